import { expect, it } from 'vitest';
import { createSampler, type SamplerSettings } from './sampler.ts';

const decisions = (name: SamplerSettings['name'], ratio: number, traceId = 'f'.repeat(32)) => {
  const isWanted = createSampler({ name, ratio });
  return [undefined, true, false].map((parent) => isWanted(traceId, parent));
};

it('the samplers decide as OpenTelemetry names them: for a new trace, a recorded one, and one that is not recorded', () => {
  expect(decisions('always_on', 0)).toEqual([true, true, true]);
  expect(decisions('always_off', 1)).toEqual([false, false, false]);
  expect(decisions('parentbased_always_on', 0)).toEqual([true, true, false]);
  expect(decisions('parentbased_always_off', 1)).toEqual([false, true, false]);
  expect(decisions('traceidratio', 1)).toEqual([true, true, true]);
  expect(decisions('traceidratio', 0, '0'.repeat(32))).toEqual([false, false, false]);
  const half = `${'a'.repeat(19)}7${'f'.repeat(12)}`;
  expect([decisions('traceidratio', 0.5, half), decisions('traceidratio', 0.4, half)]).toEqual([
    [true, true, true],
    [false, false, false],
  ]);
  expect(decisions('parentbased_traceidratio', 0.4, half)).toEqual([false, true, false]);
});
