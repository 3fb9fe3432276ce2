/*
 * Resolves references. A reference is a string that starts with `#/`, or the value of `$ref`, whose object is then
 * merged with its sibling keys. Resolving a few references can produce something far larger than the text, so the size
 * is limited.
 */
import { isJsonObject } from '@inlay/protocol/json';
import { ManifestError } from './problems.ts';

const mostNodes = 3_000_000;

/** Resolves parts of a manifest. What two parts refer to is resolved once for both, and must not be changed. */
export class References {
  readonly #manifest: Record<string, unknown>;
  readonly #resolved = new Map<string, { value: unknown; nodes: number }>();
  #nodes = 0;

  constructor(manifest: Record<string, unknown>) {
    this.#manifest = manifest;
  }

  /** Throws a ManifestError for a reference to nothing or to itself. */
  resolve(node: unknown, open: ReadonlySet<string> = new Set()): unknown {
    this.#count(1);
    if (typeof node === 'string') return node.startsWith('#/') ? this.#follow(node, open) : node;
    if (Array.isArray(node)) return node.map((item, index) => this.#inside(index, item, open));
    if (!isJsonObject(node)) return node;
    const own: [string, unknown][] = [];
    for (const [key, value] of Object.entries(node))
      if (key !== '$ref') own.push([key, this.#inside(key, value, open)]);
    if (!Object.hasOwn(node, '$ref')) return Object.fromEntries(own);
    const base = this.resolve(node.$ref, open);
    return isJsonObject(base) ? { ...base, ...Object.fromEntries(own) } : base;
  }

  #inside(key: string | number, node: unknown, open: ReadonlySet<string>): unknown {
    try {
      return this.resolve(node, open);
    } catch (error) {
      throw error instanceof ManifestError ? error.within(key) : error;
    }
  }

  #follow(reference: string, open: ReadonlySet<string>): unknown {
    const known = this.#resolved.get(reference);
    if (known) {
      this.#count(known.nodes);
      return known.value;
    }
    if (open.has(reference)) throw new ManifestError(`The reference ${reference} is circular.`);
    const before = this.#nodes;
    const value = this.resolve(valueAt(this.#manifest, reference), new Set([...open, reference]));
    this.#resolved.set(reference, { value, nodes: this.#nodes - before });
    return value;
  }

  #count(nodes: number): void {
    this.#nodes += nodes;
    if (this.#nodes > mostNodes) throw new ManifestError('The manifest is too large with its references resolved.');
  }
}

/** A key may contain slashes: at every step the whole rest of the path is tried as a key first. */
function valueAt(manifest: Record<string, unknown>, reference: string): unknown {
  let rest = reference.slice(2);
  let node: unknown = manifest;
  while (rest !== '') {
    const whole = childOf(node, rest);
    if (whole !== undefined) return whole.value;
    const slash = rest.indexOf('/');
    const head = slash === -1 ? rest : rest.slice(0, slash);
    rest = slash === -1 ? '' : rest.slice(slash + 1);
    const child = childOf(node, head);
    if (child === undefined) throw new ManifestError(`The reference ${reference} does not exist.`);
    node = child.value;
  }
  return node;
}

function childOf(node: unknown, key: string): { value: unknown } | undefined {
  if (Array.isArray(node)) {
    const index = /^\d+$/.test(key) ? Number(key) : -1;
    return index >= 0 && index < node.length ? { value: node[index] } : undefined;
  }
  return isJsonObject(node) && Object.hasOwn(node, key) ? { value: node[key] } : undefined;
}
