// make_tokens.mjs: makes tests/data/tokens/: three small tokenizers, and a table of hard texts with
// the tokens that another program gives them. The other programs are Hugging Face's own library for
// tokenizer.json, and llama2.c's run.c for tokenizer.bin.
//
//     npm install --prefix /tmp/tokens tokenizers@0.23.2
//     NODE_PATH=/tmp/tokens/node_modules node tests/data/make_tokens.mjs build/lengthen RUN_C
//
// RUN_C is run.c of https://github.com/karpathy/llama2.c, compiled with cc. The tokenizers are trained
// by `lengthen tokenizer train` on tests/data/tokens/text.txt; the variants differ in what the
// published ones differ in.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const [lengthen, runC] = process.argv.slice(2);
if (!runC) throw new Error('usage: make_tokens.mjs LENGTHEN RUN_C');
const { Tokenizer } = createRequire(process.env.NODE_PATH + '/')('tokenizers');
const folder = path.join(path.dirname(new URL(import.meta.url).pathname), 'tokens');
const file = (name) => path.join(folder, name);
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'tokens-'));

// ---- The tokenizers -------------------------------------------------------------------------

execFileSync(lengthen, ['tokenizer', 'train', file('text.txt'), '-o', file('plain.json'), '--vocab', '480']);
const plain = JSON.parse(fs.readFileSync(file('plain.json'), 'utf8'));
const added = (id, content, normalized, special) =>
  ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized, special });

// As GPT-NeoX and OLMo: NFC, runs of spaces and other tokens found in the normalised text, merges
// as pairs, no tokens for the bytes that UTF-8 never has.
const nfc = structuredClone(plain);
const letters = Object.entries(plain.model.vocab).sort((a, b) => a[1] - b[1]);
const never = [0xc0, 0xc1, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff];
const kept = letters.filter(([, id]) => !never.includes(id - 1));
nfc.model.vocab = Object.fromEntries(kept.map(([token], id) => [token, id]));
nfc.normalizer = { type: 'NFC' };
for (let n = 2; n <= 8; n++) nfc.added_tokens.push(added(kept.length + n - 2, ' '.repeat(n), true, false));
nfc.added_tokens.push(added(kept.length + 7, '|||e\u0301|||', true, false));
nfc.added_tokens.push(added(kept.length + 8, '<|padding|>', false, true));
nfc.model.merges = nfc.model.merges.map((m) => m.split(' '));
fs.writeFileSync(file('nfc.json'), JSON.stringify(nfc, null, 1) + '\n');

// A space before the text, and no words: merges go across everything.
const prefix = structuredClone(plain);
prefix.pre_tokenizer = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: false };
prefix.added_tokens.push(added(letters.length, '||', true, false));
fs.writeFileSync(file('prefix.json'), JSON.stringify(prefix, null, 1) + '\n');

// As llama2.c's: score, length and bytes of each token.
function letterByte() {
  const of = new Map();
  for (let b = 0, hidden = 0; b < 256; b++)
    of.set((b >= 33 && b <= 126) || (b >= 161 && b !== 173) ? b : 256 + hidden++, b);
  return of;
}
const bytesOf = letterByte();
const text = (token) => Buffer.from([...token].map((c) => bytesOf.get(c.codePointAt(0))));
const pieces = ['<unk>', '\n<s>\n', '\n</s>\n'].map((s) => [0, Buffer.from(s)]);
for (let b = 0; b < 256; b++)
  pieces.push([0, Buffer.from('<0x' + b.toString(16).toUpperCase().padStart(2, '0') + '>')]);
const isText = (b) => Buffer.from(b.toString('utf8')).equals(b) && !b.includes(10);
letters.slice(257).filter(([t]) => isText(text(t))).forEach(([t], i) => pieces.push([-(i >> 1), text(t)]));
for (const c of ' abcdefghijklmnopqrstuvwxyzABDEIMW.,éе文ا') pieces.push([-1000, Buffer.from(c)]);
const longest = Math.max(...pieces.map(([, b]) => b.length));
const head = Buffer.alloc(4);
head.writeInt32LE(longest);
const parts = [head];
for (const [score, bytes] of pieces) {
  const h = Buffer.alloc(8);
  h.writeFloatLE(score, 0);
  h.writeInt32LE(bytes.length, 4);
  parts.push(h, bytes);
}
fs.writeFileSync(file('llama.bin'), Buffer.concat(parts));

// ---- The texts ------------------------------------------------------------------------------

const hard = [
  '', ' ', '  ', '   ', '\n', '\r\n', '\t\t x', ' \n \n', 'a', ' a', 'a ', 'a  b', 'a   b    c         d',
  'the model', ' the model\n\nthe model', "We'll see that's I'm they've you'd he're 's 'S 'T'll", "''s '' 'x",
  'x12 3.14 12345678901234567890', '½²Ⅷ٣३', 'HTTP/2 200 OK; <b>&amp;</b>', 'snake_case camelCase',
  '🤖', '🤖🤖 👩‍🔬👨‍👩‍👧‍👦 🇩🇪', 'e\u0301 é e\u0323\u0301 a\u0308\u0304', '\u0301 starts with a mark', 'Å \u212b \u2126 \u1e9b\u0323',
  '\u1112\u1161\u11ab한글 \uac00\u11a8', '\u0929 \u0928\u093c \u0958 क़', '\u0344 \u0f73 \u0f75', 'ﬁ ﬀ ſ',
  'النموذج يقرأ سلاسل قصيرة', 'النَّمُوذَجُ', '模型读短的序列，然后回答。', '　全角　空格', 'モデルは短い列', 'मॉडल छोटी शृंखलाएँ',
  'שָׁלוֹם', 'Größe Länge ÜBUNG straße', 'Модель читает', 'ไทยกำลัง',
  'a\u00a0b\u00a0 c', 'a\u0085b', 'a \u0085b \u0085 c', 'a \u180eb \u180e c', 'a\u0305\u0316 \u0316\u0305', 'a\u180eb \u180e', 'a\u200bb\u200dc\ufeffd', '\u2003\u2009x\u2028y\u2029z', 'x\u3000\n\u3000y',
  '\u0000\u0001\u0002', 'a\u0000b', '\u001b[31mred\u001b[0m', '\u001c\u001d\u001e\u001f x', '\u007f\u0080\u009f',
  '<|endoftext|>', 'a<|endoftext|>b', '<|endoftext|><|endoftext|>', '<|endoftext|', ' <|endoftext|> ', '<|padding|>',
  '|||é|||', '|||e\u0301|||', 'x   <|padding|>   y', '\\n \\u0000 "quoted" \'single\'',
  '    for (int i = 0; i < n; i++) {\n        sum += value[i];\n    }\n',
  'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  '!!!???...---===***###@@@%%%^^^&&&', '€…“quoted”—dashed–', '𝟘𝟙 𐍈 𝓗𝓮𝓵𝓵𝓸', '<0x0A> <s> </s>',
];
// And others put together at random, always the same.
const parts2 = [' ', '  ', '\n', '\t', '\r\n', "'s", "'ll", "'", 'the', 'model', 'Z', '1', '23', 'é', 'e\u0301', '\u0301', '\u0323',
  '序列', '中', 'ا', 'النموذج', '\u200d', '🤖', '👩', '\u00a0', '\u3000', '\u2003', '\u0085', '\u180e', '\ufeff', '한', '\u1112', '\u1161',
  '\u11ab', 'ﬁ', '\u212b', '\u0344', '\u0001', '\u001c', '<|endoftext|>', '   ', '½', '_', '-', '...', '\u05d0', '\u05b0', '\u0928', '\u093c', '𐍈'];
let state = 1;
const below = (n) => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return Math.floor((state / 4294967296) * n); };
for (let i = 0; i < 60; i++)
  hard.push(Array.from({ length: 1 + below(16) }, () => parts2[below(parts2.length)]).join(''));

// ---- The table -------------------------------------------------------------------------------

const lines = [
  '# Made by tests/data/make_tokens.mjs: tokenizer, text in hexadecimal digits, tokens. The tokens of',
  '# the .json are those of Hugging Face\'s tokenizers 0.23.2, of the .bin those of llama2.c\'s run.c.',
];
const hex = (s) => Buffer.from(s, 'utf8').toString('hex');
for (const name of ['plain.json', 'nfc.json', 'prefix.json']) {
  const t = Tokenizer.fromFile(file(name));
  for (const s of hard) {
    const e = await t.encode(s, null, { addSpecialTokens: false });
    lines.push([name, hex(s), e.getIds().join(' ')].join('\t'));
  }
}
fs.writeFileSync(path.join(work, 'ask.c'), `
#define TESTING
#include "${path.resolve(runC)}"
int main(int argc, char **argv)
{
    Tokenizer t;
    int n = 0, *tokens = malloc(100000);
    build_tokenizer(&t, argv[1], atoi(argv[2]));
    encode(&t, argv[3], 0, 0, tokens, &n);
    for (int i = 0; i < n; i++) printf(i ? " %d" : "%d", tokens[i]);
}
`);
execFileSync('cc', ['-O1', '-w', '-o', path.join(work, 'ask'), path.join(work, 'ask.c'), '-lm']);
for (const s of hard.filter((h) => !h.includes('\u0000')))
  lines.push(['llama.bin', hex(s), execFileSync(path.join(work, 'ask'), [file('llama.bin'), String(pieces.length), s]).toString()].join('\t'));
fs.writeFileSync(file('cases.tsv'), lines.join('\n') + '\n');
fs.rmSync(work, { recursive: true });
