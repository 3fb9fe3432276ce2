/*
 * The rate of a sync: `sample-data` to `local-files` by the real runner. The ceiling: the bytes that the source writes,
 * sent by a bare process to a second process, which writes them to a file and does not wait for the disk.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Benchmark, type BenchmarkOptions, type Measured, measureInTurns, rateOf, tookMs } from './benchmark.ts';
import { runSampleSync, writeSourceOutput } from './sample-sync.ts';
import { runPipe } from './started-process.ts';
import { workspaceDir } from './timed-sync.ts';

const sendFile = `require('node:fs').createReadStream(process.argv[1]).pipe(process.stdout)`;
const storeInput = `process.stdin.pipe(require('node:fs').createWriteStream(process.argv[1]))`;

export const benchmark: Benchmark = {
  name: 'sync-to-files',

  async run(options) {
    const bytes = await writeSourceOutput(options);
    const works = {
      ceiling: () => pipeThroughTwo(bytes, options),
      append: () => syncToNewFolder('append', options),
      overwrite: () => syncToNewFolder('overwrite', options),
    };
    const measured = await measureInTurns(works, options.rounds, tookMs);
    const ceiling = { name: 'the same bytes through two bare processes', measured: measured.ceiling };
    return (['append', 'overwrite'] as const).map((mode) =>
      rateOf(`sample-data → local-files, ${mode}`, measured[mode], ceiling, {
        records: options.records,
        unit: 'records/s',
        target: { of: 'ratio', atLeast: 0.5 },
      }),
    );
  },
};

function syncToNewFolder(mode: 'append' | 'overwrite', options: BenchmarkOptions): Promise<Measured> {
  rmSync(workspaceDir(options), { recursive: true });
  return runSampleSync({ destination: { name: 'local-files', configuration: { path: 'bench' } }, mode }, options);
}

async function pipeThroughTwo(file: string, { folder, signal }: BenchmarkOptions): Promise<Measured> {
  const copy = join(folder, 'copy');
  const names = { sender: sendFile, receiver: storeInput };
  const measured = await runPipe(['-e', sendFile, file], ['-e', storeInput, copy], { signal, names });
  rmSync(copy);
  return measured;
}
