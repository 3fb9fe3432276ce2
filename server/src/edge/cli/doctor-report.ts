/** What `inlay doctor` prints: the checks of this machine, or those that the service at INLAY_URL runs. */
import { version } from '../../kernel/version.ts';
import { examine } from '../deployment/doctor.ts';
import { type Finding, presentFinding, worstOf } from '../deployment/doctor-rules.ts';
import { findApi } from './api-client.ts';
import { exitWith } from './exit-codes.ts';
import { print, printJson } from './output.ts';

export async function showFindings({ json }: { json?: true }): Promise<void> {
  const health = (await findApi(process.env)?.request('GET /integrations/health', {})) ?? (await examineHere());
  const { state, version, checks } = health;
  if (json) printJson({ state, version, checks });
  else printFindings(checks.map(({ state, what, advice }) => ({ state, what, ...(advice !== null && { advice }) })));
  if (state === 'fail') exitWith('findings');
}

async function examineHere() {
  const checks = (await examine(process.env)).map(presentFinding);
  return { state: worstOf(checks), version, checks };
}

export function printFindings(findings: readonly Finding[]): void {
  for (const { state, what, advice } of findings) {
    print(`${{ ok: '  ok   ', warn: '  WARN ', fail: '  FAIL ' }[state]} ${what}`);
    if (advice) print(`         ${advice}`);
  }
  const failed = findings.filter(({ state }) => state === 'fail').length;
  const warned = findings.filter(({ state }) => state === 'warn').length;
  const left = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(warned > 0 ? [`${warned} ${warned === 1 ? 'warning' : 'warnings'}`] : []),
  ];
  print('', left.length === 0 ? 'All checks passed.' : `${left.join(', ')}.`);
}
