// The slowest test files come first, so that all workers are busy to the end. Vitest keeps how long each file took in its
// last run (node_modules/.vite). In a fresh clone nothing is known: files in folders whose tests are slow come first,
// which costs a hundredth of the run's time. Each project's files come in one row: a worker whose next file is of another
// project ends, and a new worker would have to load the service again.

import { relative, sep } from 'node:path';
import { BaseSequencer } from 'vitest/node';

/**
 * Tests that kill processes, or wait for pages in a browser. The faults are not among the first files: the first of them
 * builds the program that the others find, and those that start at the same moment would build it as well.
 */
const slowFolders = ['server/test/simulation/', 'console/test/', 'widget/test/', 'scripts/', 'server/test/faults/'];

export default class SlowestFirst extends BaseSequencer {
  /** @param {import('vitest/node').TestSpecification[]} files */
  async sort(files) {
    const ranked = files.map((file) => {
      const path = relative(this.ctx.config.root, file.moduleId).split(sep).join('/');
      const known = this.ctx.cache.getFileTestResults(`${file.project.name}:${path}`);
      const folder = slowFolders.findIndex((name) => path.startsWith(name));
      return {
        file,
        isPart: Number(file.project.name === 'parts'),
        // A new file may take long.
        durationMs: known?.duration ?? Number.MAX_SAFE_INTEGER,
        folder: folder < 0 ? slowFolders.length : folder,
      };
    });
    return ranked
      .toSorted((a, b) => a.isPart - b.isPart || b.durationMs - a.durationMs || a.folder - b.folder)
      .map(({ file }) => file);
  }
}
