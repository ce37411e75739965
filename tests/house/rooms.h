/* rooms.h: the rooms of the house (docs/MAP.md), lowest first, and what each may use. */
#ifndef LG_TESTS_HOUSE_ROOMS_H
#define LG_TESTS_HOUSE_ROOMS_H

/* A room may include its own headers, the public ones, and these: a whole room ("base/") or one header of
 * it. It may link the rooms named there, and those of `links`, whose public functions it calls. */
static const struct room {
    const char *name;
    const char *may[16];
    const char *links[4];
} rooms[] = {
    {"base", {0}, {0}},
    {"engine", {"base/"}, {0}},
    {"tasks", {"base/"}, {0}},
    {"coupling", {"base/", "tasks/"}, {0}},
    {"positions", {"engine/position.h", "engine/kernels.h", "base/"}, {"tasks"}},
    {"text", {"base/"}, {0}},
    {"theory", {"base/", "tasks/"}, {0}},
    {"formats", {"base/", "engine/", "positions/positions.h"}, {0}},
    {"runs",
     {"base/", "engine/", "positions/", "tasks/", "coupling/", "text/", "theory/", "formats/"},
     {0}},
    {"measure",
     {"base/", "engine/", "positions/", "tasks/", "coupling/", "text/", "theory/", "formats/",
      "runs/"},
     {0}},
    {"certify",
     {"base/", "engine/", "positions/", "tasks/", "coupling/", "text/", "theory/", "formats/",
      "runs/", "measure/"},
     {0}},
    {"training",
     {"base/", "engine/", "positions/", "tasks/", "coupling/", "text/", "theory/", "formats/",
      "runs/", "measure/", "certify/"},
     {0}},
    {"library",
     {"base/", "engine/", "positions/", "tasks/", "text/", "formats/", "runs/", "measure/"},
     {0}},
    {"cluster", {"base/", "engine/", "runs/", "measure/"}, {"positions"}},
    {"report", {"base/", "runs/store.h"}, {"tasks"}},
    {"couple", {"base/", "tasks/", "coupling/", "runs/", "measure/", "training/", "report/"}, {0}},
    {"study",
     {"base/", "tasks/", "text/", "theory/", "formats/", "runs/", "measure/", "certify/",
      "training/", "report/", "couple/", "cluster/"},
     {0}},
    {"pages",
     {"base/", "tasks/", "runs/", "measure/", "certify/", "training/", "report/", "couple/",
      "study/"},
     {0}},
    {"cli", {0}, {0}}, /* includes public headers alone, and links whatever these declare */
};
enum { ROOMS = sizeof rooms / sizeof *rooms };

#endif
