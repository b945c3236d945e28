/* What tells how sure a search is. */

/* A number so that falling ones rise, what is no number last, and below it the place, which keeps equal ones in order. */
static inline uint64_t key_of(float value, Py_ssize_t place) {
    uint32_t bits;
    value += 0.0f;  /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    bits = value != value ? UINT32_MAX : bits >> 31 ? bits : ~(bits | 0x80000000u);
    return (uint64_t)bits << 32 | (uint32_t)place;
}

/* Sort by merging runs; which of the two holds them in the end. */
static uint64_t *sorted(uint64_t *from, uint64_t *into, Py_ssize_t count) {
    for (Py_ssize_t run = 1; run < count; run *= 2) {
        for (Py_ssize_t start = 0; start < count; start += 2 * run) {
            Py_ssize_t middle = start + run < count ? start + run : count, stop = middle + run < count ? middle + run : count;
            Py_ssize_t a = start, b = middle, n = start;
            while (a < middle && b < stop) {
                int second = from[b] < from[a];
                into[n++] = second ? from[b] : from[a];
                a += !second;
                b += second;
            }
            while (a < middle) into[n++] = from[a++];
            while (b < stop) into[n++] = from[b++];
        }
        uint64_t *other = from;
        from = into;
        into = other;
    }
    return from;
}

static int appended(PyObject *list, PyObject *item) {
    int failed = !list || !item || PyList_Append(list, item);
    Py_XDECREF(item);
    return !failed;
}

static int reached(float *const *row, const float *least, Py_ssize_t rows, Py_ssize_t place) {
    int any = !rows;
    for (Py_ssize_t k = 0; k < rows; k++) any |= !(row[k][place] < least[k]);
    return any;
}

/* ordered(values, slots, rows, limit, first): see `plain.ordered`. */
static PyObject *ordered(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    float *row[MOST], least[MOST], *values, last = 0;
    Py_ssize_t count, rows, limit, first, n, k, shown = 0, *slots;
    int alike = 0, any = 0;
    uint64_t *keys = NULL;
    PyObject *found[5] = {NULL}, *answer = NULL;
    Arrays all = {.count = 0};
    if (given != 5 || !PyList_Check(args[2]) || (rows = PyList_Size(args[2])) > MOST - 2 || !number(args[3], &limit) || !number(args[4], &first))
        return misuse("ordered(values, slots, rows, limit, first)");
    if (!(values = array(&all, args[0], 4, 0, 0, &count)) || !(slots = array(&all, args[1], sizeof(Py_ssize_t), count, 0, NULL))) goto done;
    for (k = 0; k < rows; k++) {
        PyObject *pair = PyList_GetItem(args[2], k);
        row[k] = PyTuple_Check(pair) && PyTuple_Size(pair) == 2 ? array(&all, PyTuple_GetItem(pair, 0), 4, count, 0, NULL) : NULL;
        if (!row[k]) { misuse("a row is no row"); goto done; }
        least[k] = (float)PyFloat_AsDouble(PyTuple_GetItem(pair, 1));
    }
    for (k = 0; k < 5; k++)
        if (!(found[k] = PyList_New(0))) goto done;
    if (!(keys = malloc((2 * count + 1) * sizeof(uint64_t)))) goto done;
    for (n = 0; n < count; n++) {
        keys[n] = key_of(values[n], n);
        any |= reached(row, least, rows, n);
    }
    uint64_t *order = sorted(keys, keys + count, count);
    for (n = 0; n < count && (limit || n < first); n++) {
        Py_ssize_t place = (Py_ssize_t)(order[n] & UINT32_MAX);
        float value = values[place];
        if (n < first && (!appended(found[3], PyLong_FromSsize_t(place)) || !appended(found[4], PyFloat_FromDouble(value)))) goto done;
        if (!limit || (any && !reached(row, least, rows, place))) continue;
        if (shown >= limit && value != last) {
            limit = 0;
            continue;
        }
        alike |= shown && value == last;
        last = value;
        shown++;
        if (!appended(found[0], PyLong_FromSsize_t(place)) || !appended(found[1], PyLong_FromSsize_t(slots[place])) ||
            !appended(found[2], PyFloat_FromDouble(value))) goto done;
    }
    answer = Py_BuildValue("(OOONOO)", found[0], found[1], found[2], PyBool_FromLong(alike), found[3], found[4]);
done:
    free(keys);
    for (k = 0; k < 5; k++) Py_XDECREF(found[k]);
    released(&all);
    if (!answer && !PyErr_Occurred()) PyErr_NoMemory();
    return answer;
}

#define SIGNALS 13

/* told(rows, slot, table, count, wide, place, meanings, request): see `plain.told`. */
static PyObject *told(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    static const int in_field[] = {0, 4, 3, 2};  /* name, parameters, description, namespace (`fields.Field`) */
    Py_ssize_t slot, wide, place, layers, count, n, k;
    double asked, terms, needs, fields[4] = {0}, known = 0;
    PyObject *found = NULL;
    Arrays all = {.count = 0};
    Held rows = {.posting = NULL};
    Row row;
    if (given != 8 || !PyList_Check(args[0]) || !number(args[1], &slot) || !number(args[3], &count) || !number(args[4], &wide) ||
        !number(args[5], &place) || !PyList_Check(args[6]) || PyList_Size(args[6]) > MOST - 2 || !PyTuple_Check(args[7]) ||
        !PyArg_ParseTuple(args[7], "ddd", &asked, &terms, &needs))
        return misuse("told(rows, slot, table, count, wide, place, meanings, request)");
    layers = PyList_Size(args[6]);
    float *table = array(&all, args[2], 4, (wide + 1 + 2 * layers) * count, 0, NULL);
    if (!table) goto done;
    if (place >= count || wide < 4 + 2 * layers) { misuse("a place that no candidate has"); goto done; }
    for (n = 0; n < PyList_Size(args[0]); n++) {
        if (!row_of(&rows, PyList_GetItem(args[0], n), &row)) { misuse("a row is no row"); goto done; }
        int bits = bits_of(&row, slot);
        known += row.rarity;
        for (k = 0; k < 4; k++)
            if (bits >= 0 && bits >> in_field[k] & 1) fields[k] += row.rarity;
    }
#define COLUMN(row) ((double)table[(row) * count + place])
    double relative = COLUMN(0), words = COLUMN(wide);
    double of_words[SIGNALS] = {words * 0.1, relative, words / asked, COLUMN(1), COLUMN(2), fields[0] / asked, fields[1] / asked,
                                fields[2] / asked, fields[3] / asked, COLUMN(3), known / asked, terms, needs};
    if (!(found = PyList_New(0))) goto done;
    for (k = 0; k < SIGNALS; k++)
        if (!appended(found, PyFloat_FromDouble(of_words[k]))) { Py_CLEAR(found); goto done; }
    for (n = 0; n < layers; n++) {
        PyObject *meaning = PyList_GetItem(args[6], n);
        double most, share, sum, squares, top;
        float *cosines;
        if (!PyTuple_Check(meaning) || PyTuple_Size(meaning) != 3 || !(cosines = array(&all, PyTuple_GetItem(meaning, 0), 4, count, 0, NULL))) {
            misuse("a meaning is no meaning");
            Py_CLEAR(found);
            goto done;
        }
        most = PyFloat_AsDouble(PyTuple_GetItem(meaning, 1));
        share = PyFloat_AsDouble(PyTuple_GetItem(meaning, 2));
        spread_of(cosines, count, &sum, &squares, &top);
        double whole = cosines[place], part = 1 / (most > 1e-3 ? most : 1e-3), mean = sum / count, square = squares / count - mean * mean;
        double deviation = sqrt(square > 0 ? square : 0.0);
        double of_meaning[] = {whole, whole * part, (whole - mean) / (deviation > 1e-3 ? deviation : 1e-3), COLUMN(wide + 1 + 2 * n),
                               COLUMN(5 + 2 * n), COLUMN(wide + 2 + 2 * n) * part, relative * whole * part, share};
        for (k = 0; k < 8; k++)
            if (!appended(found, PyFloat_FromDouble(of_meaning[k]))) { Py_CLEAR(found); goto done; }
    }
done:
    released(&rows.arrays);
    released(&all);
    if (!found && !PyErr_Occurred()) PyErr_NoMemory();
    return found;
}

/* How the best candidates stand among all: see `plain.standing`. */
static int standing(double *found, const float *row, float part, Py_ssize_t count, PyObject *places) {
    Py_ssize_t wanted = PyList_Size(places), place, n, at = 0;
    float top[5];
    double sum = 0;
    for (n = 0; n < wanted; n++) {
        if (!number(PyList_GetItem(places, n), &place) || place >= count) { misuse("a place that no candidate has"); return 0; }
        sum += row[place] * part;
    }
    for (n = 0; n < 5; n++) top[n] = -INFINITY;
    for (n = 0; n < count; n++) {
        Py_ssize_t k = 5;
        float value = row[n] * part;
        if (value > top[0]) at = n;
        while (k && value > top[k - 1]) k--;
        if (k < 5) {
            memmove(top + k + 1, top + k, (4 - k) * sizeof(float));
            top[k] = value;
        }
    }
    number(PyList_GetItem(places, 0), &place);
    found[0] = sum / wanted;
    found[1] = top[0];
    found[2] = (double)top[0] - top[count > 1 ? 1 : 0];
    found[3] = (double)top[0] - top[count < 5 ? count - 1 : 4];
    found[4] = at == place;
    return 1;
}

/* Append those of some numbers whose places are told, `from` on. */
static int taken(PyObject *found, PyObject *numbers, PyObject *places, Py_ssize_t from) {
    Py_ssize_t place;
    for (Py_ssize_t n = 0; n < PyTuple_Size(places); n++) {
        if (!number(PyTuple_GetItem(places, n), &place) || from + place >= PyList_Size(numbers)) { misuse("a signal that there is not"); return 0; }
        if (PyList_Append(found, PyList_GetItem(numbers, from + place))) return 0;
    }
    return 1;
}

/* evidence(signals, of_words, of_meaning, compared, places, values, count): see `plain.evidence`. */
static PyObject *evidence(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t count, layers, each, wanted, n, k;
    double stand[5], mean = 0;
    PyObject *found = NULL;
    Arrays all = {.count = 0};
    if (given != 7 || !PyList_Check(args[0]) || !PyTuple_Check(args[1]) || !PyTuple_Check(args[2]) || !PyList_Check(args[3]) ||
        !PyList_Check(args[4]) || !PyList_Check(args[5]) || !number(args[6], &count) || !count || !(layers = PyList_Size(args[3])) || layers > MOST ||
        !(wanted = PyList_Size(args[4])) || PyList_Size(args[5]) != wanted)
        return misuse("evidence(signals, of_words, of_meaning, compared, places, values, count)");
    each = layers > 1 ? (PyList_Size(args[0]) - SIGNALS) / (layers - 1) : 0;
    if (!(found = PyList_New(0)) || !taken(found, args[0], args[1], 0)) goto failed;
    for (n = 0; n < wanted; n++) mean += PyFloat_AsDouble(PyList_GetItem(args[5], n));
    mean /= wanted;
    for (n = 0; n < layers; n++) {
        PyObject *pair = PyList_GetItem(args[3], n);
        float *row = PyTuple_Check(pair) && PyTuple_Size(pair) == 2 ? array(&all, PyTuple_GetItem(pair, 0), 4, count, 0, NULL) : NULL;
        if (!row) { misuse("a row is no row"); goto failed; }
        if (!standing(stand, row, (float)PyFloat_AsDouble(PyTuple_GetItem(pair, 1)), count, args[4])) goto failed;
        if (!n) {
            double best = PyFloat_AsDouble(PyList_GetItem(args[5], 0)), second = PyFloat_AsDouble(PyList_GetItem(args[5], wanted > 1 ? 1 : 0));
            double leading[] = {stand[0], log((double)count), best, best - second < 2.0 ? best - second : 2.0, best - mean < 3.0 ? best - mean : 3.0};
            for (k = 0; k < 5; k++)
                if (!appended(found, PyFloat_FromDouble(leading[k]))) goto failed;
        } else if (!taken(found, args[0], args[2], SIGNALS + (n - 1) * each)) goto failed;
        for (k = !n; k < 5; k++)
            if (!appended(found, PyFloat_FromDouble(stand[k]))) goto failed;
    }
    released(&all);
    if (!PyErr_Occurred()) return found;
failed:
    released(&all);
    Py_XDECREF(found);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

static double chance_of(double odds) {
    return odds < log(0.001 / 0.999) ? 0.001 : odds > log(0.99 / (1 - 0.99)) ? 0.99 : 1 / (1 + exp(-odds));
}

/* chances(any_right, best, values, weights): see `plain.chances`. */
static PyObject *chances(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    double odds, near, place, bias, any, best;
    PyObject *found;
    if (given != 4 || !PyList_Check(args[2]) || !PyTuple_Check(args[3]) || !PyArg_ParseTuple(args[3], "dddd", &odds, &near, &place, &bias))
        return misuse("chances(any_right, best, values, weights)");
    any = PyFloat_AsDouble(args[0]);
    best = PyFloat_AsDouble(args[1]);
    if (PyErr_Occurred() || !(found = PyList_New(0))) return NULL;
    any = log(any / (1 - any));
    for (Py_ssize_t n = 0; n < PyList_Size(args[2]); n++) {
        double above = PyFloat_AsDouble(PyList_GetItem(args[2], n)) - best;
        double chance = chance_of(any * odds + (above > -6.0 ? above : -6.0) * near + 1 / (1 + (double)n) * place + bias);
        if (!appended(found, PyFloat_FromDouble(floor(chance * 10000 + 0.5) / 10000))) { Py_DECREF(found); return NULL; }
    }
    if (PyErr_Occurred()) { Py_DECREF(found); return NULL; }
    return found;
}

/* odds(evidence, means, scales, weights, far): see `plain.odds`. */
static PyObject *odds(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t count, n;
    double sum = 0;
    Arrays all = {.count = 0};
    if (given != 5 || !PyList_Check(args[0])) return misuse("odds(evidence, means, scales, weights, far)");
    count = PyList_Size(args[0]);
    float *means = array(&all, args[1], 4, count, 0, NULL), *scales = means ? array(&all, args[2], 4, count, 0, NULL) : NULL;
    float *weights = scales ? array(&all, args[3], 4, count + 1, 0, NULL) : NULL, far = (float)PyFloat_AsDouble(args[4]);
    for (n = 0; weights && n < count; n++) {
        float one = ((float)PyFloat_AsDouble(PyList_GetItem(args[0], n)) - means[n]) * scales[n];
        sum += (double)(one > far ? far : one < -far ? -far : one) * weights[n];
    }
    if (weights) sum += weights[count];
    released(&all);
    return weights && !PyErr_Occurred() ? PyFloat_FromDouble(sum) : NULL;
}
