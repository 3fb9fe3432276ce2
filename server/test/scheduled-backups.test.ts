/** Backups on a schedule, to a folder and to an S3 bucket. */
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type S3Server, startS3Server } from '../../connectors/test/s3-server.ts';
import { itInLongRun } from '../../scripts/long-run.ts';
import { deleteOld, openPlace } from '../src/edge/deployment/backup-places.ts';
import { examineBackup } from '../src/edge/deployment/doctor-rules.ts';
import { readLastBackup, recordBackup } from '../src/edge/deployment/last-backup.ts';
import { readConfig } from '../src/kernel/config/config.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { runCommand } from './support/command-line.ts';
import { createTestDatabase, describeOnOneDatabase } from './support/databases.ts';

const folder = mkdtempSync(join(tmpdir(), 'inlay-schedule-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const newPath = () => join(folder, String(++count));
const passphrase = 'correct horse battery';
const settingsFor = (to: string, keep = 2) => ({
  INLAY_BACKUP_TO: to,
  INLAY_BACKUP_SCHEDULE: '0 0 0 * * ?',
  INLAY_BACKUP_KEEP: String(keep),
  INLAY_BACKUP_PASSPHRASE: passphrase,
});
const dayMs = 86_400_000;

async function start(...[kind, options]: Parameters<typeof startTestApp>): Promise<TestApp> {
  const test = await startTestApp(kind, options);
  onTestFinished(() => test.stop());
  return test;
}

const pass = (test: TestApp) => test.app.workers.scheduledBackups.pass();

/** As if the last scheduled backup had run two days ago. */
const letTwoDaysPass = ({ app: { store } }: TestApp) =>
  store.db
    .updateTable('scheduled_backups')
    .set({ ran_at: Date.now() - 2 * dayMs })
    .execute();

async function failures(test: TestApp) {
  await test.app.workers.sequencer.pass();
  const { body } = await test.request('GET', '/api/v1/events?types=backup.failed');
  return body.data.map(({ data }: { data: object }) => data);
}

describeOnOneDatabase('A scheduled backup', (kind) => {
  it('is made by one replica when it is due, and known to all', async () => {
    const to = newPath();
    const database = await createTestDatabase(kind, { migrated: true });
    onTestFinished(() => database.drop());
    const other = newPath();
    const { INLAY_BACKUP_PASSPHRASE: _, ...settings } = settingsFor(to);
    const env = { ...settings, INLAY_ENCRYPTION_KEY: randomBytes(32).toString('base64') };
    const replicas = [
      await start(kind, { env, shared: database }),
      // On PostgreSQL, on a machine of its own.
      await start(kind, { env: { ...env, ...(database.url && { INLAY_DATA_DIR: other }) }, shared: database }),
    ] as const;
    const both = () => Promise.all(replicas.map(pass));
    await both();
    expect(existsSync(to), 'not due yet').toBe(false);
    await letTwoDaysPass(replicas[0]);
    await both();
    const [made = '', ...more] = readdirSync(to);
    expect([made, more]).toEqual([expect.stringMatching(/^inlay-backup-.*Z$/), []]);
    await both();
    expect(readdirSync(to)).toEqual([made]);
    const { started_at } = JSON.parse(readFileSync(join(to, made, 'manifest.json'), 'utf8'));
    for (const dir of database.url ? [database.dataDir, other] : [database.dataDir]) {
      expect(readLastBackup(dir)).toBe(Date.parse(started_at));
    }
    const verified = await runCommand(['backup', 'verify', join(to, made)], { env });
    expect(verified).toMatchObject({ code: 0, stderr: '' });
  });
});

describeOnOneDatabase('A scheduled backup', () => {
  it('waits for the lease of another replica, and takes over when that was killed', async () => {
    const to = newPath();
    const test = await start('sqlite', { env: settingsFor(to) });
    const leased = (until: number) =>
      test.app.store.db.updateTable('scheduled_backups').set({ lease_id: 'other', lease_until: until }).execute();
    await letTwoDaysPass(test);
    await leased(Date.now() + 60_000);
    await pass(test);
    expect(existsSync(to)).toBe(false);
    await leased(Date.now() - 1);
    await pass(test);
    expect(readdirSync(to)).toHaveLength(1);
  });

  itInLongRun('deletes the oldest complete backups, and what is left of unfinished ones', async () => {
    const to = newPath();
    const test = await start('sqlite', { env: settingsFor(to) });
    const day = (ageMs: number) => new Date(Date.now() - ageMs).toISOString().replaceAll(/[:.]/g, '-');
    const unfinished = [`inlay-backup-${day(2 * dayMs)}.unfinished`, `inlay-backup-${day(1_000)}.unfinished`] as const;
    for (const name of [...unfinished, 'of-somebody-else']) mkdirSync(join(to, name), { recursive: true });
    const made: string[] = [];
    for (let round = 0; round < 3; round++) {
      await letTwoDaysPass(test);
      await pass(test);
      made.push(...readdirSync(to).filter((name) => name.endsWith('Z') && !made.includes(name)));
    }
    expect(made).toHaveLength(3);
    expect(readdirSync(to).sort()).toEqual([...made.slice(1), unfinished[1], 'of-somebody-else'].sort());
  });

  it('is recorded as an event when it fails, and made again the next time', async () => {
    const to = join(newPath(), 'backups');
    const test = await start('sqlite', { env: settingsFor(to) });
    writeFileSync(join(to, '..'), 'a file');
    await letTwoDaysPass(test);
    await pass(test);
    await pass(test);
    expect(await failures(test)).toEqual([{ message: expect.stringContaining(to), last_backup_at: null }]);
    rmSync(join(to, '..'));
    await letTwoDaysPass(test);
    await pass(test);
    expect(readdirSync(to)).toHaveLength(1);
    expect(await failures(test)).toHaveLength(1);
  });

  itInLongRun('that is interrupted by the end of the process leaves nothing behind, and stays due', async () => {
    const to = newPath();
    const test = await start('sqlite', { env: settingsFor(to) });
    await letTwoDaysPass(test);
    await test.app.workers.scheduledBackups.pass(AbortSignal.abort());
    expect([readdirSync(to), await failures(test)]).toEqual([[], []]);
    await pass(test);
    expect(readdirSync(to)).toHaveLength(1);
  });

  it.each([
    [1.5, 'ok'],
    [2.5, 'warn'],
  ])('made %d days ago by a daily schedule is %s in doctor and console', (days, state) => {
    const dataDir = newPath();
    mkdirSync(dataDir);
    recordBackup(dataDir, Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2 - days * dayMs);
    const { config } = readConfig({ ...settingsFor(newPath()), INLAY_DATA_DIR: dataDir });
    expect(examineBackup(config)).toMatchObject([{ state }]);
  });

  it('never makes the only good backup go, whatever is newer', async () => {
    const to = newPath();
    const test = await start('sqlite');
    for (let round = 0; round < 2; round++) {
      const made = await runCommand(['backup'], { env: { ...test.env, ...settingsFor(to) } });
      expect(made).toMatchObject({ code: 0, stderr: '' });
    }
    const [good = '', damaged = ''] = readdirSync(to).sort();
    truncateSync(join(to, damaged, 'inlay.db'), 512);
    const place = await openPlace(to, { aws: readConfig({}).secrets.aws, drafts: folder });
    await deleteOld(place, { keep: 1, now: Date.now() + 30 * dayMs });
    expect(readdirSync(to).sort()).toEqual([good, damaged]);
  });
});

describeOnOneDatabase('A backup in S3', () => {
  let s3: S3Server;
  beforeAll(async () => {
    s3 = await startS3Server();
  });
  afterAll(() => s3.stop());
  const settings = (path: string, keep?: number) => ({
    ...settingsFor(`s3://${s3.bucket}/${path}`, keep),
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
    AWS_REGION: s3.region,
    AWS_ENDPOINT_URL: s3.url,
  });
  const namesIn = async (path: string) => [...new Set((await s3.keys(path)).map((key) => key.split('/')[1] as string))];

  it('is uploaded in parts, verified, restored, and refused if a bit was flipped', async () => {
    const env = settings('whole');
    const test = await start('sqlite', { env });
    await test.scopedToken('acme');
    const file = join('files', 'workspace', 'rows.jsonl');
    mkdirSync(join(test.dataDir, 'files', 'workspace'), { recursive: true });
    const rows = randomBytes(6 * 1024 * 1024);
    writeFileSync(join(test.dataDir, file), rows);
    const made = await runCommand(['backup', '--files', '--json'], { env: test.env });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const { folder: at } = JSON.parse(made.stdout);
    expect(readdirSync(test.dataDir).filter((name) => name.startsWith('inlay-backup-'))).toEqual([]);
    expect(s3.requests.at(-1)?.key).toMatch(/manifest\.json$/);
    expect(await runCommand(['backup', 'verify', at], { env })).toMatchObject({ code: 0, stderr: '' });

    const dataDir = newPath();
    const from = ['restore', '--from', at];
    const wrong = { ...env, INLAY_BACKUP_PASSPHRASE: 'another passphrase', INLAY_DATA_DIR: dataDir };
    expect((await runCommand(from, { env: wrong })).code).toBe(1);
    expect(existsSync(dataDir)).toBe(false);
    expect(await runCommand(from, { env: { ...env, INLAY_DATA_DIR: dataDir } })).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(join(dataDir, file)).equals(rows)).toBe(true);
    expect(readdirSync(dataDir)).toContain('inlay.db');

    let isFlipped = false;
    s3.faults = ({ method, key }) => {
      if (method !== 'GET' || !key.endsWith('platform.db')) return undefined;
      isFlipped = true;
      return {
        spoil: (answer) => {
          const bytes = Buffer.from(answer.bytes ?? '');
          bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
          return { ...answer, bytes };
        },
      };
    };
    onTestFinished(() => {
      s3.faults = () => undefined;
    });
    const damaged = await runCommand(from, { env: { ...env, INLAY_DATA_DIR: newPath() } });
    expect(damaged).toMatchObject({ code: 1, stderr: expect.stringContaining(`${at}/platform.db`) });
    expect([isFlipped, existsSync(join(folder, String(count)))]).toEqual([true, false]);
  });

  it('whose upload failed half-way is no backup, is not restored, and is deleted after a day', async () => {
    const env = settings('half');
    const test = await start('sqlite', { env });
    await letTwoDaysPass(test);
    s3.faults = ({ method, key }) =>
      method === 'PUT' && key.endsWith('manifest.json') ? { status: 403, code: 'AccessDenied' } : undefined;
    await pass(test);
    s3.faults = () => undefined;
    expect(await failures(test)).toMatchObject([{ last_backup_at: null }]);
    const [half = ''] = await namesIn('half');
    const at = `s3://${s3.bucket}/half/${half}`;
    const dataDir = newPath();
    for (const args of [
      ['restore', '--from', at],
      ['backup', 'verify', at],
    ]) {
      const refused = await runCommand(args, { env: { ...env, INLAY_DATA_DIR: dataDir } });
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(at) });
    }
    expect(existsSync(dataDir)).toBe(false);

    await letTwoDaysPass(test);
    await pass(test);
    expect(await namesIn('half')).toHaveLength(2);
    const place = await openPlace(env.INLAY_BACKUP_TO, { aws: readConfig(env).secrets.aws, drafts: test.dataDir });
    await deleteOld(place, { keep: 2, now: Date.now() + 2 * dayMs });
    await place.close();
    const left = await namesIn('half');
    expect([left.length, left.includes(half)]).toEqual([1, false]);
  });

  itInLongRun('is one of as many as are kept', async () => {
    const env = settings('kept', 1);
    const test = await start('sqlite', { env });
    for (let round = 0; round < 2; round++) {
      await letTwoDaysPass(test);
      await pass(test);
    }
    expect(await failures(test)).toEqual([]);
    expect(await namesIn('kept')).toHaveLength(1);
    expect((await s3.keys('kept')).filter((key) => key.endsWith('manifest.json'))).toHaveLength(1);
  });
});
