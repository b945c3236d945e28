// The bridge between the code of one run and the board: lines over stdio. It is loaded before the run's code is known,
// takes hold of everything that it needs while the realm is still its own, and then takes away what the code shall not
// have. Every frame starts with a token that the code never sees; a frame is put together from texts, never from
// objects, so that no toJSON and no patched prototype of the code can change what is around its own values.
// The host trusts none of this: it checks every call again.
const { stdin, stdout, exit } = Deno;
const read = stdin.read.bind(stdin);
const writeSync = stdout.writeSync.bind(stdout);
const encoder = new TextEncoder();
const encode = encoder.encode.bind(encoder);
const decoder = new TextDecoder();
const decode = decoder.decode.bind(decoder);
const { parse, stringify } = JSON;
const { create, defineProperty, freeze, getOwnPropertyNames } = Object;
const { construct } = Reflect;
const AsyncFunction = (async () => {}).constructor;
const NativePromise = Promise;
const all = Promise.all.bind(Promise);
const { isArray } = Array;
const NativeError = Error;
const NativeProxy = Proxy;
const NativeString = String;
const subarray = Uint8Array.prototype.subarray.call.bind(Uint8Array.prototype.subarray);
const indexOf = Uint8Array.prototype.indexOf.call.bind(Uint8Array.prototype.indexOf);
const copy = Uint8Array.prototype.set.call.bind(Uint8Array.prototype.set);
const wipe = Uint8Array.prototype.fill.call.bind(Uint8Array.prototype.fill);
const Bytes = Uint8Array;
const listen = addEventListener.bind(globalThis);
const NativeDate = Date;
const { imul } = Math;
const later = setImmediate;

let token = "";
let logRoom = 0;
let last = 0;
let at = 0;
const pending = create(null);

function send(text) {
  let bytes = encode(token + " " + text + "\n");
  while (bytes.length > 0) bytes = subarray(bytes, writeSync(bytes));
}

const chunk = new Bytes(65536);
let held = new Bytes(0);
async function line() {
  for (;;) {
    const end = indexOf(held, 10);
    if (end >= 0) {
      const text = decode(subarray(held, 0, end));
      held = subarray(held, end + 1);
      return text;
    }
    const size = await read(chunk);
    if (size === null) exit(0);
    const joined = new Bytes(held.length + size);
    copy(joined, held);
    copy(joined, subarray(chunk, 0, size), held.length);
    held = joined;
  }
}

function call(name, input) {
  const text = input === undefined ? "{}" : stringify(input);
  if (text === undefined) throw new NativeError(`${name} takes one object of named arguments.`);
  const id = ++last;
  return new NativePromise((resolve, reject) => {
    pending[id] = { resolve, reject };
    send(`c ${id} [${stringify(name)},${text}]`);
  });
}

// tools.ns.name(arguments): any path is a function; the host says which of them there are.
function path(name) {
  return new NativeProxy(function () {}, {
    get(_, key) {
      if (typeof key !== "string" || key === "then" || key === "toJSON") return undefined;
      return path(name === "" ? key : `${name}.${key}`);
    },
    apply(_, __, given) {
      if (given.length > 1 && typeof given[0] !== "string") {
        throw new NativeError(`${name} takes one object of named arguments, not ${given.length} values.`);
      }
      return call(name, given.length > 1 || typeof given[0] === "string" ? { query: given[0], limit: given[1] } : given[0]);
    },
    set() {
      return false;
    },
  });
}

function shown(value) {
  if (typeof value === "string") return value;
  if (value instanceof NativeError) return NativeString(value.stack ?? value.message);
  try {
    return stringify(value) ?? NativeString(value);
  } catch {
    return "[a value that cannot be shown]";
  }
}

function log(...values) {
  let text = "";
  for (let at = 0; at < values.length; at++) text += (at > 0 ? " " : "") + shown(values[at]);
  if (text.length > logRoom) text = text.slice(0, logRoom);
  if (logRoom <= 0) return;
  logRoom -= text.length + 1;
  send(`l ${stringify(text)}`);
}

function told(error) {
  try {
    const name = NativeString(error?.name ?? "Error");
    const message = NativeString(error?.message ?? error);
    const code = typeof error?.code === "string" ? error.code : null;
    const at = /<anonymous>:(\d+):(\d+)/.exec(NativeString(error?.stack ?? ""));
    const line = at === null ? null : at[1] - 2; // the two lines that the function's head takes
    return `{"name":${stringify(name)},"message":${stringify(message)},"code":${stringify(code)},"line":${stringify(line)}}`;
  } catch {
    return `{"name":"Error","message":"The code threw something that cannot be shown.","code":null,"line":null}`;
  }
}

function strip() {
  const kept = [
    "Object", "Function", "Array", "Number", "parseFloat", "parseInt", "Infinity", "NaN", "undefined", "Boolean",
    "String", "Symbol", "Date", "Promise", "RegExp", "Error", "AggregateError", "EvalError", "RangeError",
    "ReferenceError", "SyntaxError", "TypeError", "URIError", "JSON", "Math", "Intl", "ArrayBuffer", "Uint8Array",
    "Int8Array", "Uint16Array", "Int16Array", "Uint32Array", "Int32Array", "BigUint64Array", "BigInt64Array",
    "Uint8ClampedArray", "Float32Array", "Float64Array", "DataView", "Map", "BigInt", "Set", "Iterator", "WeakMap",
    "WeakSet", "WeakRef", "Proxy", "Reflect", "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent",
    "escape", "unescape", "eval", "isFinite", "isNaN", "globalThis", "setTimeout", "clearTimeout", "setInterval",
    "clearInterval", "queueMicrotask", "structuredClone", "URL", "URLSearchParams", "TextEncoder", "TextDecoder",
    "atob", "btoa",
  ];
  const keep = create(null);
  for (const name of kept) keep[name] = true;
  for (const name of getOwnPropertyNames(globalThis)) {
    if (!keep[name]) delete globalThis[name];
  }
  for (const name of getOwnPropertyNames(globalThis)) {
    if (!keep[name]) defineProperty(globalThis, name, { value: undefined });
  }
}

// What is not the same whenever the code is run again: the time, which is that of the last answer, and chance.
function steady(seed) {
  function Clock(...given) {
    if (new.target === undefined) return new NativeDate(at).toString();
    return construct(NativeDate, given.length === 0 ? [at] : given, new.target);
  }
  for (const name of getOwnPropertyNames(NativeDate)) {
    if (name === "prototype") Clock.prototype = NativeDate.prototype;
    else defineProperty(Clock, name, { value: NativeDate[name], configurable: true });
  }
  defineProperty(Clock, "now", { value: () => at, writable: true, configurable: true });
  defineProperty(NativeDate.prototype, "constructor", { value: Clock, writable: true, configurable: true });
  defineProperty(globalThis, "Date", { value: Clock, writable: true, configurable: true });
  let state = seed | 0;
  Math.random = () => { // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

// Let the code do all that the last answer lets it do before it gets the next one, as if that came later.
function settled() {
  return new NativePromise((resolve) => {
    later(resolve);
  });
}

async function answers() {
  for (;;) {
    if (indexOf(held, 10) >= 0) await settled();
    const { id, at: when, ok, value, error } = parse(await line());
    at = when;
    const waiting = pending[id];
    delete pending[id];
    if (waiting === undefined) continue;
    if (ok) {
      waiting.resolve(value);
      continue;
    }
    const thrown = new NativeError(error.message);
    thrown.name = "ToolError";
    thrown.code = error.code;
    thrown.next_step = error.next_step;
    waiting.reject(thrown);
  }
}

async function main() {
  await settled(); // what timers need is loaded while it can be
  clearTimeout(setTimeout(() => {}, 0));
  clearInterval(setInterval(() => {}, 1));
  listen("unhandledrejection", (event) => event.preventDefault());
  listen("error", (event) => event.preventDefault());
  const console = freeze({ log, info: log, warn: log, error: log, debug: log });
  strip();
  defineProperty(globalThis, "console", { value: console });
  const tools = path("");
  const start = parse(await line());
  wipe(chunk, 0); // the token stays in no buffer that a read of later on could show
  held = new Bytes(0);
  token = start.token;
  logRoom = start.log;
  at = start.at;
  steady(start.seed);
  answers();
  let text;
  try {
    const run = new AsyncFunction("tools", start.code);
    let value = await run(tools);
    if (isArray(value) && value[0] instanceof NativePromise) value = await all(value);
    text = stringify(value) ?? "null";
  } catch (error) {
    send(`e ${told(error)}`);
    exit(0);
  }
  send(`r ${text}`);
  exit(0);
}

main();
