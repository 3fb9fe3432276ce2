// Checks an OpenAPI document with a public validator, and writes the clients that two public generators create from it.
//
//   node generate.mjs <openapi.json> <folder>

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { generateSource } from 'oazapfts';
import openapiTypes, { astToString } from 'openapi-typescript';

const [documentFile = '', folder = ''] = process.argv.slice(2);

const { valid, errors } = await new Validator().validate(JSON.parse(await readFile(documentFile, 'utf8')));
if (!valid) throw new Error(`The document is not valid OpenAPI: ${JSON.stringify(errors)}`);

await writeFile(join(folder, 'types.ts'), astToString(await openapiTypes(pathToFileURL(documentFile))));
await writeFile(join(folder, 'functions.ts'), await generateSource(documentFile));
