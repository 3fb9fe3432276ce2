/**
 * The Chromium of this process, shared by its test files because starting one takes longer than most tests. Tests are isolated
 * by contexts, which they create and close. The browser ends with the process.
 */
import { type Browser, chromium } from 'playwright-core';
import { chromiumArguments, findChromium } from '../../../scripts/chromium.mjs';

let launched: Promise<Browser> | undefined;

export async function sharedBrowser(): Promise<Browser> {
  const present = await launched;
  if (!present?.isConnected()) launched = launch();
  return await (launched as Promise<Browser>);
}

const launch = async () =>
  chromium.launch({
    executablePath: await findChromium({ install: true }),
    // Services of tests listen on 127.0.0.1 only.
    args: [...chromiumArguments, '--host-resolver-rules=MAP localhost 127.0.0.1'],
  });
