#!/usr/bin/python3
"""Writes lengthen/_structs.py, the public headers as ctypes: constants, structs and functions.

    /usr/bin/python3 python/make_structs.py > python/lengthen/_structs.py

Run it after a change of include/*.h; a test compares. It reads the headers as they are written here (one
declaration after another, no macros in them), not C in general, and stops at what it does not know.
"""
import os
import re
import sys

HEADERS = ["lengthen.h", "lengthen_own.h", "lengthen_runs.h", "lengthen_measure.h", "lengthen_training.h",
           "lengthen_certify.h", "lengthen_library.h"]
PLAIN = {"int": "c_int", "unsigned": "c_uint", "unsigned char": "c_ubyte", "char": "c_char", "float": "c_float",
         "double": "c_double", "size_t": "c_size_t", "int32_t": "c_int32", "uint32_t": "c_uint32",
         "int64_t": "c_int64", "uint64_t": "c_uint64"}


class Headers:
    def __init__(self, folder):
        text = ""
        for name in HEADERS:
            with open(os.path.join(folder, name)) as f:
                text += f.read()
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        self.constants = {n: int(v) for n, v in re.findall(r"#define (LG_\w+) \(?(-?\d+)\)?\s*\n", text)}
        self.constants["LG_ABSENT"] = -2 ** 31
        text = re.sub(r"^#ifdef __GNUC__.*?#endif", "", text, flags=re.S | re.M)
        text = re.sub(r"^\s*#.*?(?<!\\)$", "", text, flags=re.M)
        self.enums, self.structs, self.functions, self.callbacks, self.opaque = set(), {}, {}, set(), set()
        self.read(re.sub(r'extern "C" \{|\}\s*\Z', " ", text))

    def read(self, text):
        at = 0
        while True:
            m = re.compile(r"[^;{]*[;{]").match(text, at)
            if not m:
                return
            head, end = m.group(), m.end()
            if head.endswith("{"):
                depth = 1
                while depth:
                    depth += {"{": 1, "}": -1}.get(text[end], 0)
                    end += 1
                body = text[m.end():end - 1]
                semicolon = text.index(";", end)
                self.block(" ".join(head[:-1].split()), body, text[end:semicolon].strip())
                end = semicolon + 1
            else:
                self.statement(" ".join(head[:-1].split()))
            at = end

    def block(self, head, body, name):
        if "enum" in head.split():
            value = -1
            for item in filter(None, (x.strip() for x in body.split(","))):
                word, _, number = (x.strip() for x in item.partition("="))
                value = self.constants.get(number, None) if number in self.constants else int(number, 0) if number \
                    else value + 1
                self.constants[word] = value
            if name:
                self.enums.add(name)
            return
        words = head.split()
        self.structs[name or words[-1]] = self.fields(body, name or words[-1])

    def statement(self, line):
        while line.startswith("}"):
            line = line[1:].strip()
        if line.startswith("typedef") and "(" in line:
            self.callbacks.add(re.match(r"[^(]*?(\w+)\(", line).group(1))
        elif line.startswith("typedef struct"):
            self.opaque.add(line.split()[-1])
        elif "(" in line:
            m = re.match(r"(.*?)\b(lg_\w+)\((.*)\)(?: __attribute__.*)?$", line)
            if m and "..." not in m.group(3):
                arguments = [] if m.group(3) == "void" else [self.argument(a) for a in m.group(3).split(",")]
                self.functions[m.group(2)] = (self.type(m.group(1)), arguments)

    def argument(self, text):
        if "[" in text:
            return "c_void_p"
        m = re.match(r"(.*?[ *])(\w+)$", text.strip())
        return self.type(m.group(1))

    def type(self, text, name=""):
        """Of text as 'const char *' or 'lg_error': pointers are addresses, texts are bytes."""
        text = re.sub(r"\b(const|volatile|extern|struct|_Thread_local)\b", "", text)
        stars, base = text.count("*"), " ".join(text.replace("*", " ").split())
        if stars:
            return "c_char_p" if base == "char" and stars == 1 else "c_void_p"
        if base == "void":
            return "None"
        if base in PLAIN:
            return PLAIN[base]
        if base in self.enums or base.startswith("enum "):
            return "c_int"
        if base in self.structs or base.startswith("_"):
            return base
        sys.exit(f"make_structs.py: the type {base!r} (in {name or text!r}) is not known")

    def fields(self, body, owner):
        found = []
        nested = re.search(r"struct \{(.*?)\} (\w+)((?:\[\w+\])*);", body, flags=re.S)
        if nested:
            inner = f"_{owner}_{nested.group(2)}"
            self.structs[inner] = self.fields(nested.group(1), inner)
            body = body[:nested.start()] + f"{inner} {nested.group(2)}{nested.group(3)};" + body[nested.end():]
        for line in filter(None, (" ".join(x.split()).replace("] [", "][") for x in body.split(";"))):
            m = re.match(r".*?\(\*(\w+)\)\(", line)
            if m:
                found.append((m.group(1), "c_void_p"))
                continue
            first, *others = line.split(",")
            m = re.match(r"(.*?[ *])(\w+(?:\[[^\]]*\])*)$", first)
            base = m.group(1)
            plain = base.replace("*", " ")
            for text, kind in [(m.group(2), base)] + [(o.strip().lstrip("* "), plain + "*" * o.count("*"))
                                                     for o in others]:
                name, *sizes = re.split(r"[\[\]]+", text.rstrip("]"))
                what = "c_void_p" if any(w in self.callbacks for w in kind.replace("*", " ").split()) \
                    else self.type(kind, f"{owner}.{name}")
                for size in reversed(sizes):
                    what = f"{what} * {self.number(size)}"
                found.append((name, what))
        return found

    def number(self, text):
        return self.constants[text] if text in self.constants else int(text)


def main():
    h = Headers(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "include"))
    out = ['"""The public headers as ctypes. Made by make_structs.py; do not edit by hand."""',
           "from ctypes import (Structure, c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_ubyte,",
           "                    c_uint, c_uint32, c_uint64, c_void_p)", ""]
    out += [f"{name} = {value}" for name, value in sorted(h.constants.items()) if name != "LG_VERSION"]
    for name, fields in h.structs.items():
        out += ["", "", f"class {name}(Structure):", "    _fields_ = ["]
        out += [f'        ("{field}", {kind}),' for field, kind in fields]
        out += ["    ]"]
    out += ["", "", "# What each returns, and takes.", "FUNCTIONS = {"]
    out += [f'    "{name}": ({returns}, [{", ".join(takes)}]),' for name, (returns, takes) in sorted(h.functions.items())]
    out += ["}"]
    print("\n".join(out))


if __name__ == "__main__":
    main()
