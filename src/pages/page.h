/* page.h: a report that is being gathered: lists of JSON. */
#ifndef LG_PAGES_PAGE_H
#define LG_PAGES_PAGE_H

#include "pages/pages.h"

struct lg_page {
    char *title, *command;
    lg_buffer notes, runs, results, methods;
};

#endif
