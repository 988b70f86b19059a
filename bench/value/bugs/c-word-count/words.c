#include "words.h"

#include <ctype.h>
#include <stdbool.h>

int count_words(const char *text)
{
    int words = 0;
    bool inside = false;
    for (const char *at = text; *at; at++) {
        bool letter = isalpha((unsigned char)*at);
        if (inside && !letter)
            words++;
        inside = letter;
    }
    return words;
}

double mean_length(const char *text)
{
    int letters = 0;
    for (const char *at = text; *at; at++)
        letters += isalpha((unsigned char)*at) != 0;
    int words = count_words(text);
    return words ? (double)letters / words : 0;
}
