/* How near tools are to a request in meaning. */

WIDE static void sum_up(float *into, const int8_t *row, float scale, Py_ssize_t dim) {
    for (Py_ssize_t k = 0; k < dim; k++) into[k] += scale * (float)row[k];
}

/* summed(table, scales, parts, vectors): see `plain.summed`. */
static PyObject *summed(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t rows, length, dim, n, m, k, row, parts;
    PyObject *found = NULL;
    Arrays all = {.count = 0};
    if (given != 4 || !PyList_Check(args[2])) return misuse("summed(table, scales, parts, vectors)");
    parts = PyList_Size(args[2]);
    int8_t *table = array(&all, args[0], 1, 0, 0, &length);
    float *scales = table ? array(&all, args[1], 4, 1, 0, &rows) : NULL;
    float *into = scales ? array(&all, args[3], 4, parts * (dim = length / rows), 1, NULL) : NULL;
    if (!into) goto done;
    memset(into, 0, parts * dim * sizeof(float));
    for (k = 0; k < parts; k++, into += dim) {
        PyObject *words = PyList_GetItem(args[2], k), *word;
        if (!PyList_Check(words)) { misuse("a part is no list"); goto done; }
        for (n = 0; n < PyList_Size(words); n++) {
            if (!PyTuple_Check(word = PyList_GetItem(words, n))) { misuse("a word's rows are no tuple"); goto done; }
            for (m = 0; m < PyTuple_Size(word); m++) {
                if (!number(PyTuple_GetItem(word, m), &row) || row >= rows) { misuse("a row that the table has not"); goto done; }
                sum_up(into, table + row * dim, scales[row], dim);
            }
        }
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
    Py_ssize_t count, levels, length, dim, n, k;
    Arrays all = {.count = 0};
    if (given != 4 || !number(args[1], &count) || !number(args[2], &levels)) return misuse("whole(vectors, count, levels, scales)");
    float *rows = array(&all, args[0], 4, 0, 1, &length);
    float *scales = rows ? array(&all, args[3], 4, count, 1, NULL) : NULL;
    int any = 0;
    if (scales)
        for (n = 0, dim = count ? length / count : 0; n < count; n++) {
            rounded(rows + n * dim, dim, (float)levels);
            scales[n] = inverse_length(rows + n * dim, dim);
            for (k = 0; !n && !any && k < dim; k++) any = rows[k] != 0;
        }
    released(&all);
    if (!scales) return NULL;
    return PyBool_FromLong(any);
}

/* The products of a question with sixteen tools that lie abreast, two numbers of each at a time. */
static void sixteen(int32_t *sums, const int16_t *tools, const int16_t *asked, Py_ssize_t pairs) {
    memset(sums, 0, ABREAST * sizeof(int32_t));
    for (Py_ssize_t k = 0; k < pairs; k++, tools += 2 * ABREAST, asked += 2)
        for (int n = 0; n < ABREAST; n++) sums[n] += asked[0] * tools[2 * n] + asked[1] * tools[2 * n + 1];
}

#ifdef AVX2
/* The same, in a quarter of the steps: whole numbers add up alike in any order. */
__attribute__((target("avx2"))) static void sixteen_at_once(int32_t *sums, const int16_t *tools, const int16_t *asked, Py_ssize_t pairs) {
    __m256i low = _mm256_setzero_si256(), high = low;
    for (Py_ssize_t k = 0; k < pairs; k++, tools += 2 * ABREAST, asked += 2) {
        int32_t two;
        memcpy(&two, asked, sizeof two);
        __m256i both = _mm256_set1_epi32(two);
        low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_loadu_si256((const __m256i *)tools), both));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_loadu_si256((const __m256i *)(tools + ABREAST)), both));
    }
    _mm256_storeu_si256((__m256i *)sums, low);
    _mm256_storeu_si256((__m256i *)(sums + ABREAST / 2), high);
}
#endif

/* compared(asked, count, leading, tools, scales, size, found): see `plain.compared`. */
static PyObject *compared(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t count, leading, size, length, dim, start, n, k;
    int16_t *whole = NULL;
    int32_t sums[ABREAST];
    PyObject *answer = NULL;
    Arrays all = {.count = 0};
    void (*of_sixteen)(int32_t *, const int16_t *, const int16_t *, Py_ssize_t) = sixteen;
#ifdef AVX2
    if (__builtin_cpu_supports("avx2")) of_sixteen = sixteen_at_once;
#endif
    if (given != 7 || !number(args[1], &count) || !number(args[2], &leading) || !number(args[5], &size) || !count || !leading)
        return misuse("compared(asked, count, leading, tools, scales, size, found)");
    Py_ssize_t pairs = (leading + 1) / 2, blocks = (size + ABREAST - 1) / ABREAST;
    float *asked = array(&all, args[0], 4, count * leading, 0, &length);
    dim = length / count;
    int16_t *tools = asked ? array(&all, args[3], 2, blocks * pairs * 2 * ABREAST, 0, NULL) : NULL;
    float *scales = tools ? array(&all, args[4], 4, size, 0, NULL) : NULL;
    float *found = scales ? array(&all, args[6], 4, count * size, 1, NULL) : NULL;
    float *parts = malloc(count * sizeof(float));
    if (!found || !parts || !(whole = calloc(count * pairs * 2, sizeof(int16_t)))) goto done;
    for (n = 0; n < count; n++) {
        for (k = 0; k < leading; k++) whole[n * pairs * 2 + k] = (int16_t)asked[n * dim + k];
        parts[n] = inverse_length(asked + n * dim, leading);
    }
    for (start = 0; start < size; start += ABREAST, tools += pairs * 2 * ABREAST)
        for (n = 0; n < count; n++) {
            Py_ssize_t width = size - start < ABREAST ? size - start : ABREAST;
            float *into = found + n * size + start;
            of_sixteen(sums, tools, whole + n * pairs * 2, pairs);
            for (k = 0; k < width; k++) into[k] = (float)sums[k] * scales[start + k] * parts[n];
        }
    answer = Py_None;
    Py_INCREF(answer);
done:
    free(parts);
    free(whole);
    released(&all);
    if (!answer && !PyErr_Occurred()) PyErr_NoMemory();
    return answer;
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

/* The sum of some numbers, that of their squares, and the greatest of them and zero. */
static void spread_of(const float *row, Py_ssize_t count, double *sum, double *square, double *greatest) {
    double sums[LANES], squares[LANES];
    float most[LANES];
    Py_ssize_t n;
    lanes(row, count, sums, squares, most);
    for (n = count - count % LANES; n < count; n++) {
        double value = row[n];
        sums[0] += value;
        squares[0] += value * value;
        most[0] = row[n] > most[0] ? row[n] : most[0];
    }
    for (n = 1; n < LANES; n++) {
        sums[0] += sums[n];
        squares[0] += squares[n];
        most[0] = most[n] > most[0] ? most[n] : most[0];
    }
    *sum = sums[0];
    *square = squares[0];
    *greatest = most[0];
}

/* spread(row): see `plain.spread`. */
static PyObject *spread(PyObject *self, PyObject *given) {
    Py_ssize_t count;
    double sum, squares, most;
    Arrays all = {.count = 0};
    float *row = array(&all, given, 4, 0, 0, &count);
    if (row) spread_of(row, count, &sum, &squares, &most);
    released(&all);
    return row ? Py_BuildValue("(ddd)", sum, squares, most) : NULL;
}
