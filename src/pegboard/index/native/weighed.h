/* What the ranking weighs of them. */

typedef struct {
    int32_t group;
    int used;
    float best, second;
} Group;

static Group *group_of(Group *all, size_t mask, int32_t group) {
    size_t at = ((uint32_t)group * 2654435761u) & mask;
    while (all[at].used && all[at].group != group) at = (at + 1) & mask;
    all[at].used = 1;
    all[at].group = group;
    return &all[at];
}

/* Of each candidate, the best value above zero of another candidate of its group. */
static int beside(float *into, const float *values, float part, const Py_ssize_t *slots, const int32_t *groups, Py_ssize_t count) {
    size_t size = 8;
    while (size < (size_t)count * 2) size *= 2;
    Group *all = calloc(size, sizeof(Group)), *mine;
    if (!all) return 0;
    for (Py_ssize_t n = 0; n < count; n++) {
        float value = values[n] * part;
        mine = group_of(all, size - 1, groups[slots[n]]);
        if (value > mine->best) {
            mine->second = mine->best;
            mine->best = value;
        } else if (value > mine->second) mine->second = value;
    }
    for (Py_ssize_t n = 0; n < count; n++) {
        mine = group_of(all, size - 1, groups[slots[n]]);
        into[n] = values[n] * part >= mine->best ? mine->second : mine->best;
    }
    free(all);
    return 1;
}

static float greatest(const float *values, Py_ssize_t count) {
    float most = values[0];
    for (Py_ssize_t n = 1; n < count; n++) most = values[n] > most ? values[n] : most;
    return most;
}

static float part_of(float most, double least) { return (float)(1 / (most > least ? most : least)); }

/* Raises each of `into` to what `values` times a part is; the first time it is that. */
static void raised(float *into, const float *values, float part, Py_ssize_t count, int first) {
    for (Py_ssize_t n = 0; n < count; n++) {
        float value = values[n] * part;
        into[n] = first || value > into[n] ? value : into[n];
    }
}

typedef struct {
    Py_ssize_t count, size, needs;
    const Py_ssize_t *slots;
    const float *scores, *sizes;
    const uint8_t *names;
    const int32_t *groups;
} Candidates;

/* The four rows of words, and what they are made of below `words`. */
static int of_words(const Candidates *all, float *rows, float *words, float *best) {
    Py_ssize_t n, k, count = all->count;
    for (n = 0; n < count; n++) words[n] = all->scores[all->slots[n]];
    *best = greatest(words, count);
    raised(rows, words, part_of(*best, 1e-6), count, 1);
    memcpy(rows + count, rows, count * sizeof(float));
    for (k = 1; k <= all->needs; k++) {
        float *of_need = rows + 2 * count, most;
        for (n = 0; n < count; n++) of_need[n] = all->scores[k * all->size + all->slots[n]];
        most = greatest(of_need, count);
        most = most > 1e-6f ? most : 1e-6f;
        for (n = 0; n < count; n++) {
            float share = of_need[n] / most;
            rows[count + n] = k == 1 || share > rows[count + n] ? share : rows[count + n];
        }
    }
    for (n = 0; n < count; n++) {
        float share = (float)all->names[all->slots[n]] / all->sizes[all->slots[n]];
        rows[2 * count + n] = share < 1 ? share : 1;
    }
    return beside(rows + 3 * count, rows, 1, all->slots, all->groups, count);
}

/* A layer's two rows, its greatest cosines by need, and its least and greatest with the request. */
static void of_meaning(const float *cosines, Py_ssize_t parts, Py_ssize_t count, float *rows, float *need, float *ends) {
    Py_ssize_t n, k;
    for (k = 0; k < parts; k++) raised(need, cosines + k * count, 1, count, !k);
    ends[0] = cosines[0];
    for (n = 1; n < count; n++) ends[0] = cosines[n] < ends[0] ? cosines[n] : ends[0];
    ends[1] = greatest(cosines, count);
    for (n = 0; n < count; n++) rows[n] = cosines[n] - ends[0];
    raised(rows + count, need, part_of(greatest(need, count), 1e-3), count, 1);
}

/* weighed(slots, count, scores, size, needs, names, sizes, groups, meanings, table): see `plain.weighed`. */
static PyObject *weighed(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Candidates all;
    Py_ssize_t layers, n, length, wide;
    PyObject *answer = NULL, *kept = NULL;
    Arrays in = {.count = 0};
    float best, ends[2], *table = NULL;
    if (given != 10 || !number(args[1], &all.count) || !number(args[3], &all.size) || !number(args[4], &all.needs) ||
        !all.count || !PyList_Check(args[8]) || (layers = PyList_Size(args[8])) > MOST - 7)
        return misuse("weighed(slots, count, scores, size, needs, names, sizes, groups, meanings, table)");
    wide = 4 + 2 * layers + (layers > 1);
    all.slots = array(&in, args[0], sizeof(Py_ssize_t), all.count, 0, NULL);
    all.scores = all.slots ? array(&in, args[2], 4, all.size * (all.needs + 1), 0, NULL) : NULL;
    all.names = all.scores ? array(&in, args[5], 1, all.size, 0, NULL) : NULL;
    all.sizes = all.names ? array(&in, args[6], 4, all.size, 0, NULL) : NULL;
    all.groups = all.sizes ? array(&in, args[7], 4, all.size, 0, NULL) : NULL;
    table = all.groups ? array(&in, args[9], 4, (wide + 1 + 2 * layers) * all.count, 1, NULL) : NULL;
    if (!table) goto done;
    for (n = 0; n < all.count; n++)
        if (all.slots[n] < 0 || all.slots[n] >= all.size) { misuse("a slot that no tool has"); goto done; }
    if (!of_words(&all, table, table + wide * all.count, &best) || !(kept = PyList_New(0))) goto done;
    for (n = 0; n < layers; n++) {
        float *cosines = array(&in, PyList_GetItem(args[8], n), 4, all.count, 0, &length), *rows = table + (4 + 2 * n) * all.count;
        if (!cosines) goto done;
        of_meaning(cosines, length / all.count, all.count, rows, table + (wide + 1 + 2 * n) * all.count, ends);
        if (!beside(table + (wide + 2 + 2 * n) * all.count, cosines, 1, all.slots, all.groups, all.count)) goto done;
        if (layers > 1 && n == layers - 1 && !beside(table + (wide - 1) * all.count, cosines, part_of(ends[1], 1e-3),
                                                     all.slots, all.groups, all.count)) goto done;
        PyObject *pair = Py_BuildValue("(ff)", ends[0], ends[1]);
        if (!pair || PyList_Append(kept, pair)) { Py_XDECREF(pair); goto done; }
        Py_DECREF(pair);
    }
    answer = Py_BuildValue("(fO)", best, kept);
done:
    Py_XDECREF(kept);
    released(&in);
    if (!answer && !PyErr_Occurred()) PyErr_NoMemory();
    return answer;
}

/* fused(table, count, weights, slots, doing, against, cost, values): see `plain.fused`. */
static PyObject *fused(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t count, rows, size, n, k;
    Arrays all = {.count = 0};
    if (given != 8 || !number(args[1], &count) || !PyList_Check(args[2]))
        return misuse("fused(table, count, weights, slots, doing, against, cost, values)");
    long against = PyLong_AsLong(args[5]);
    float cost = (float)PyFloat_AsDouble(args[6]);
    rows = PyList_Size(args[2]);
    float *table = array(&all, args[0], 4, rows * count, 0, NULL);
    Py_ssize_t *slots = table ? array(&all, args[3], sizeof(Py_ssize_t), count, 0, NULL) : NULL;
    int8_t *doing = slots ? array(&all, args[4], 1, 0, 0, &size) : NULL;
    float *values = doing ? array(&all, args[7], 4, count, 1, NULL) : NULL;
    if (values) {
        memset(values, 0, count * sizeof(float));
        for (k = 0; k < rows; k++) {
            float weight = (float)PyFloat_AsDouble(PyList_GetItem(args[2], k));
            for (n = 0; n < count; n++) values[n] += table[k * count + n] * weight;
        }
        for (n = 0; n < count; n++) values[n] = rintf(values[n] * 10000.0f) / 10000.0f;
        for (n = 0; against && n < count; n++)
            if (slots[n] >= 0 && slots[n] < size && doing[slots[n]] == against) values[n] -= cost;
    }
    released(&all);
    if (!values || PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}
