// The TypeScript SDK's client for bench/parity.py: reads {command, args, env, cwd, steps} from standard input, takes the
// steps one after the other, and writes what each came to as one JSON list.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { command, args, env, cwd, steps } = JSON.parse(Buffer.concat(chunks).toString());

const client = new Client({ name: "parity", version: "1" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command, args, env, cwd, stderr: "ignore" }));

async function every(list, member) {
  const rows = [];
  let cursor;
  do {
    const page = await list(cursor === undefined ? {} : { cursor });
    rows.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return rows;
}

const take = {
  tools: () => every((at) => client.listTools(at), "tools"),
  resources: () => every((at) => client.listResources(at), "resources"),
  templates: () => every((at) => client.listResourceTemplates(at), "resourceTemplates"),
  prompts: () => every((at) => client.listPrompts(at), "prompts"),
  call: ({ name, arguments: given }) => client.callTool({ name, arguments: given }),
  read: ({ uri }) => client.readResource({ uri }),
  get: ({ name, arguments: given }) => client.getPrompt({ name, arguments: given ?? undefined }),
  complete: ({ ref, argument }) => client.complete({ ref, argument }),
};

const found = [];
for (const { kind, ...given } of steps) {
  try {
    found.push(await take[kind](given));
  } catch (error) {
    found.push({ error: { code: error.code ?? null, message: String(error.message) } });
  }
}
process.stdout.write(JSON.stringify(found), () => process.exit(0));
