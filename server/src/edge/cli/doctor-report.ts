/** What `inlay doctor` prints. */
import { examine } from '../deployment/doctor.ts';
import type { Finding } from '../deployment/doctor-rules.ts';
import { print } from './output.ts';

export async function showFindings(): Promise<void> {
  const findings = await examine(process.env);
  printFindings(findings);
  if (findings.some(({ state }) => state === 'fail')) process.exitCode = 1;
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
