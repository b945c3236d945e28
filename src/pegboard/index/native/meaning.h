/* How near tools are to a request in meaning. */

WIDE static void sum_up(float *into, const int8_t *row, float scale, Py_ssize_t dim) {
    for (Py_ssize_t k = 0; k < dim; k++) into[k] += scale * (float)row[k];
}

/* summed(table, scales, numbers, vector): see `plain.summed`. */
static PyObject *summed(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t rows, length, dim, n, row;
    PyObject *found = NULL;
    Arrays all = {.count = 0};
    if (given != 4 || !PyList_Check(args[2])) return misuse("summed(table, scales, numbers, vector)");
    int8_t *table = array(&all, args[0], 1, 0, 0, &length);
    float *scales = table ? array(&all, args[1], 4, 1, 0, &rows) : NULL;
    float *into = scales ? array(&all, args[3], 4, dim = length / rows, 1, NULL) : NULL;
    if (!into) goto done;
    memset(into, 0, dim * sizeof(float));
    for (n = 0; n < PyList_Size(args[2]); n++) {
        if (!number(PyList_GetItem(args[2], n), &row) || row >= rows) { misuse("a row that the table has not"); goto done; }
        sum_up(into, table + row * dim, scales[row], dim);
    }
    found = Py_None;
    Py_INCREF(found);
done:
    released(&all);
    return found;
}

static float inverse_length(const float *row, Py_ssize_t dim) {
    float sum = 0;
    for (Py_ssize_t k = 0; k < dim; k++) sum += row[k] * row[k];
    return 1.0f / sqrtf(sum < 1.0f ? 1.0f : sum);
}

WIDE static void rounded(float *row, Py_ssize_t dim, float levels) {
    float largest = 1e-30f;
    for (Py_ssize_t k = 0; k < dim; k++) largest = fabsf(row[k]) > largest ? fabsf(row[k]) : largest;
    float part = levels / largest;
    for (Py_ssize_t k = 0; k < dim; k++) row[k] = rintf(row[k] * part);
}

/* whole(vectors, count, levels, scales): see `plain.whole`. */
static PyObject *whole(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t count, levels, length, dim, n;
    Arrays all = {.count = 0};
    if (given != 4 || !number(args[1], &count) || !number(args[2], &levels)) return misuse("whole(vectors, count, levels, scales)");
    float *rows = array(&all, args[0], 4, 0, 1, &length);
    float *scales = rows ? array(&all, args[3], 4, count, 1, NULL) : NULL;
    if (scales)
        for (n = 0, dim = count ? length / count : 0; n < count; n++) {
            rounded(rows + n * dim, dim, (float)levels);
            scales[n] = inverse_length(rows + n * dim, dim);
        }
    released(&all);
    if (!scales) return NULL;
    Py_RETURN_NONE;
}

WIDE static void block(float *sums, const float *asked, const int16_t *columns, Py_ssize_t leading, Py_ssize_t stride, Py_ssize_t width) {
    Py_ssize_t k = 0, n;
    for (n = 0; n < width; n++) sums[n] = 0;
    for (; k + 3 < leading; k += 4) {
        const int16_t *a = columns + k * stride, *b = a + stride, *c = b + stride, *d = c + stride;
        float p = asked[k], q = asked[k + 1], r = asked[k + 2], s = asked[k + 3];
        for (n = 0; n < width; n++) sums[n] += (p * a[n] + q * b[n]) + (r * c[n] + s * d[n]);
    }
    for (; k < leading; k++)
        for (n = 0; n < width; n++) sums[n] += asked[k] * columns[k * stride + n];
}

/* The same for two questions at once: what is read of the tools is made floats once. */
WIDE static void two_blocks(float *sums, float *others, const float *asked, const float *other, const int16_t *columns,
                            Py_ssize_t leading, Py_ssize_t stride, Py_ssize_t width) {
    for (Py_ssize_t n = 0; n < width; n++) sums[n] = others[n] = 0;
    for (Py_ssize_t k = 0; k + 1 < leading; k += 2) {
        const int16_t *a = columns + k * stride, *b = a + stride;
        float p = asked[k], q = asked[k + 1], r = other[k], s = other[k + 1];
        for (Py_ssize_t n = 0; n < width; n++) {
            float x = a[n], y = b[n];
            sums[n] += p * x + q * y;
            others[n] += r * x + s * y;
        }
    }
    if (leading % 2)
        for (Py_ssize_t n = 0; n < width; n++) {
            sums[n] += asked[leading - 1] * columns[(leading - 1) * stride + n];
            others[n] += other[leading - 1] * columns[(leading - 1) * stride + n];
        }
}

WIDE static void scaled(float *into, const float *sums, const float *scales, float scale, Py_ssize_t width) {
    for (Py_ssize_t n = 0; n < width; n++) into[n] = sums[n] * scales[n] * scale;
}

/* compared(asked, count, leading, columns, scales, size, found): see `plain.compared`. */
static PyObject *compared(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t count, leading, size, length, stride, dim, start, n;
    float sums[BLOCK], others[BLOCK];
    Arrays all = {.count = 0};
    if (given != 7 || !number(args[1], &count) || !number(args[2], &leading) || !number(args[5], &size) || !count || !leading)
        return misuse("compared(asked, count, leading, columns, scales, size, found)");
    float *asked = array(&all, args[0], 4, count * leading, 0, &length);
    dim = length / count;
    int16_t *columns = asked ? array(&all, args[3], 2, leading * size, 0, &length) : NULL;
    stride = length / leading;
    float *scales = columns ? array(&all, args[4], 4, size, 0, NULL) : NULL;
    float *found = scales ? array(&all, args[6], 4, count * size, 1, NULL) : NULL;
    if (found)
        for (start = 0; start < size; start += BLOCK)
            for (n = 0; n < count; n += 2) {
                Py_ssize_t width = size - start < BLOCK ? size - start : BLOCK;
                float *row = asked + n * dim, *into = found + n * size + start;
                if (n + 1 < count) {
                    two_blocks(sums, others, row, row + dim, columns + start, leading, stride, width);
                    scaled(into + size, others, scales + start, inverse_length(row + dim, leading), width);
                } else block(sums, row, columns + start, leading, stride, width);
                scaled(into, sums, scales + start, inverse_length(row, leading), width);
            }
    released(&all);
    if (!found) return NULL;
    Py_RETURN_NONE;
}

WIDE static int32_t product(const int8_t *row, const int16_t *asked, Py_ssize_t dim) {
    int32_t sum = 0;
    for (Py_ssize_t k = 0; k < dim; k++) sum += (int16_t)row[k] * asked[k];
    return sum;
}

/* exact(rows, scales, slots, asked, count, asked_scales, found): see `plain.exact`. */
static PyObject *exact(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t count, length, size, places, dim, n, k;
    int16_t *whole = NULL;
    PyObject *answer = NULL;
    Arrays all = {.count = 0};
    if (given != 7 || !number(args[4], &count) || !count) return misuse("exact(rows, scales, slots, asked, count, asked_scales, found)");
    float *scales = array(&all, args[1], 4, 0, 0, &size);
    float *asked = scales ? array(&all, args[3], 4, 0, 0, &length) : NULL;
    dim = length / count;
    int8_t *rows = asked ? array(&all, args[0], 1, size * dim, 0, NULL) : NULL;
    Py_ssize_t *slots = rows ? array(&all, args[2], sizeof(Py_ssize_t), 0, 0, &places) : NULL;
    float *parts = slots ? array(&all, args[5], 4, count, 0, NULL) : NULL;
    float *found = parts ? array(&all, args[6], 4, count * places, 1, NULL) : NULL;
    if (!found || !(whole = malloc((count * dim + 1) * sizeof(int16_t)))) goto done;
    for (k = 0; k < count * dim; k++) whole[k] = (int16_t)asked[k];
    for (k = 0; k < places; k++) {
        if (slots[k] < 0 || slots[k] >= size) { misuse("a slot that no tool has"); goto done; }
        for (n = 0; n < count; n++)
            found[n * places + k] = (float)product(rows + slots[k] * dim, whole + n * dim, dim) * scales[slots[k]] * parts[n];
    }
    answer = Py_None;
    Py_INCREF(answer);
done:
    free(whole);
    released(&all);
    if (!answer && !PyErr_Occurred()) PyErr_NoMemory();
    return answer;
}

WIDE static void lanes(const float *row, Py_ssize_t count, double *sums, double *squares, float *most) {
    double all[LANES] = {0}, squared[LANES] = {0};
    float top[LANES] = {0};
    for (Py_ssize_t n = 0; n + LANES <= count; n += LANES) {
        for (int k = 0; k < LANES; k++) all[k] += (double)row[n + k];
        for (int k = 0; k < LANES; k++) squared[k] += (double)row[n + k] * (double)row[n + k];
        for (int k = 0; k < LANES; k++) top[k] = row[n + k] > top[k] ? row[n + k] : top[k];
    }
    memcpy(sums, all, sizeof all);
    memcpy(squares, squared, sizeof squared);
    memcpy(most, top, sizeof top);
}

/* spread(row): see `plain.spread`. */
static PyObject *spread(PyObject *self, PyObject *given) {
    Py_ssize_t count, n;
    Arrays all = {.count = 0};
    double sums[LANES] = {0}, squares[LANES] = {0};
    float most[LANES] = {0};
    float *row = array(&all, given, 4, 0, 0, &count);
    if (!row) { released(&all); return NULL; }
    lanes(row, count, sums, squares, most);
    for (n = count - count % LANES; n < count; n++) {
        double value = row[n];
        sums[0] += value;
        squares[0] += value * value;
        most[0] = row[n] > most[0] ? row[n] : most[0];
    }
    released(&all);
    for (n = 1; n < LANES; n++) {
        sums[0] += sums[n];
        squares[0] += squares[n];
        most[0] = most[n] > most[0] ? most[n] : most[0];
    }
    return Py_BuildValue("(ddd)", sums[0], squares[0], (double)most[0]);
}
