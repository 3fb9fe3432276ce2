import type { Metafile } from 'esbuild';

/** A program as a single CommonJS file. Returns the files that are in it. */
export function bundleProgram(options: { entry: string; outfile: string }): Promise<Metafile['inputs']>;
