/*
 * Reads the items of one list of a JSON text while the text comes, so that the list may be larger than memory. The path has
 * the form of the Python package `ijson`: keys with dots between them, and `item` for each item of a list on the way.
 */
import { parseJsonWithFloats } from '@inlay/protocol/json';

interface Container {
  isList: boolean;
  /** The key of the value that comes next, in an object. */
  key: string;
  expectsKey: boolean;
}

/** Throws an Error for truncated text, or for an item that is not JSON. */
export async function* readJsonItems(chunks: AsyncIterable<string>, path: string): AsyncGenerator<unknown> {
  const wanted = path === '' ? 'item' : `${path}.item`;
  const open: Container[] = [];
  /** What is kept of the text: a key, or the item that is being read. */
  let kept: string[] = [];
  let keeps: 'key' | 'item' | undefined;
  /** How many containers were open when the item began. */
  let depth = 0;
  let [isString, isEscaped, isScalar] = [false, false, false];
  const place = () => open.map(({ isList, key }) => (isList ? 'item' : key)).join('.');
  const takeKept = () => {
    const text = kept.join('');
    [kept, keeps] = [[], undefined];
    return text;
  };
  for await (const chunk of chunks) {
    let from = 0;
    const keepUntil = (at: number) => {
      if (keeps) kept.push(chunk.slice(from, at));
      from = at;
    };
    for (let at = 0; at < chunk.length; at++) {
      const character = chunk[at] as string;
      if (isString) {
        if (isEscaped) isEscaped = false;
        else if (character === '\\') isEscaped = true;
        else if (character === '"') {
          isString = false;
          if (keeps === 'key') {
            keepUntil(at + 1);
            (open.at(-1) as Container).key = String(JSON.parse(takeKept()));
          } else if (keeps === 'item' && open.length === depth) {
            keepUntil(at + 1);
            yield parseJsonWithFloats(takeKept());
          }
        }
        continue;
      }
      const isEnd = character === ',' || character === ']' || character === '}' || /\s/.test(character);
      if (isScalar && isEnd) {
        isScalar = false;
        if (keeps === 'item' && open.length === depth) {
          keepUntil(at);
          yield parseJsonWithFloats(takeKept());
        }
      }
      const around = open.at(-1);
      if (character === ']' || character === '}') {
        if (around?.isList !== (character === ']')) throw new Error('The response is not valid JSON.');
        open.pop();
        if (keeps === 'item' && open.length === depth) {
          keepUntil(at + 1);
          yield parseJsonWithFloats(takeKept());
        }
      } else if (character === ',') {
        if (around && !around.isList) around.expectsKey = true;
      } else if (character === ':') {
        if (around) around.expectsKey = false;
      } else if (!isEnd && !isScalar) {
        if (around?.expectsKey && !keeps) {
          keeps = 'key';
          from = at;
        } else if (!keeps && around?.isList && place() === wanted) {
          [keeps, depth, from] = ['item', open.length, at];
        }
        if (character === '"') isString = true;
        else if (character === '[' || character === '{') {
          open.push({ isList: character === '[', key: '', expectsKey: character === '{' });
        } else isScalar = true;
      }
    }
    keepUntil(chunk.length);
  }
  if (open.length > 0 || isString) throw new Error('The response is incomplete.');
}
