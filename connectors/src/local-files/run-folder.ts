/*
 * The hidden folder of a run, next to those of its streams. What isn't visible yet is in it, and what a run makes visible or
 * removes is renamed out of it or into it.
 *
 * The next attempt of the connection takes the folder away. From then on every such rename of the earlier attempt fails, in
 * the same step in which it would have had an effect: the file system is the lock. The folder of the latest attempt stays,
 * empty, and its name tells an earlier one that starts late.
 */
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Attempt, overtaken } from '../kit/attempts.ts';
import { hiddenName, makeFolder, plainName, removeLeftovers } from './folders.ts';

export class RunFolder {
  readonly #target: string;
  readonly #name: string;
  readonly #attempt: Attempt | undefined;
  #hidden = 0;

  private constructor(target: string, attempt: Attempt | undefined) {
    this.#target = target;
    this.#attempt = attempt;
    this.#name = attempt ? nameOf(attempt) : hiddenName('run');
  }

  /** Throws if a later attempt has been here. */
  static async open(target: string, attempt: Attempt | undefined): Promise<RunFolder> {
    await removeLeftovers(target);
    const folder = new RunFolder(target, attempt);
    await folder.#takeOver();
    return folder;
  }

  /** The part of it that belongs to a stream. Without an attempt it is made when it is needed. */
  of(stream: string): Promise<string> {
    return this.#attempt
      ? makeFolder(join(this.#target, this.#name), stream)
      : makeFolder(this.#target, this.#name, stream);
  }

  /** Out of sight in one step, then removed. */
  async remove(stream: string, path: string): Promise<void> {
    this.#hidden += 1;
    const hidden = join(await this.of(stream), `.old-${this.#hidden}`);
    await rename(path, hidden);
    await rm(hidden, { recursive: true, force: true });
  }

  async end(): Promise<void> {
    if (!this.#attempt) await rm(join(this.#target, this.#name), { recursive: true, force: true });
  }

  /** What a failure means: the folder of an attempt is only ever taken away by a later one, or by hand. */
  async explain(error: unknown): Promise<unknown> {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return isMissing && (await this.#epochs()).some(([, epoch]) => this.#isEarlierThan(epoch))
      ? overtaken(error)
      : error;
  }

  /** Its own folder first: of two attempts that start at once, the later one sees the other, or is seen by it. */
  async #takeOver(): Promise<void> {
    if (!this.#attempt) return;
    const own = join(this.#target, this.#name);
    await makeFolder(this.#target, this.#name);
    for (const left of await readdir(own)) await rm(join(own, left), { recursive: true, force: true });
    for (const [name, epoch] of await this.#epochs()) {
      if (this.#isEarlierThan(epoch)) throw overtaken();
      if (name === this.#name) continue;
      const away = join(this.#target, hiddenName(`overtaken-${epoch}`));
      await rename(join(this.#target, name), away);
      await rm(away, { recursive: true, force: true });
    }
  }

  #isEarlierThan(epoch: number): boolean {
    return this.#attempt !== undefined && this.#attempt.epoch < epoch;
  }

  /** Of this connection's attempts. */
  async #epochs(): Promise<[name: string, epoch: number][]> {
    const { writer = '' } = this.#attempt ?? {};
    return (await readdir(this.#target)).flatMap((name): [string, number][] => {
      const [, epoch, whose] = /^\.epoch-(\d+)-(.+)$/.exec(name) ?? [];
      return whose === plainName(writer) ? [[name, Number(epoch)]] : [];
    });
  }
}

const nameOf = ({ writer, epoch }: Attempt) => `.epoch-${epoch}-${plainName(writer)}`;
