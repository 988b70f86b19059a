int count_words(const char *text);
double mean_length(const char *text);
