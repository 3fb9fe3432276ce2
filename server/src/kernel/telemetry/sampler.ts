/** Which traces are recorded: the samplers of OpenTelemetry, by their names. */

export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export interface SamplerSettings {
  name: (typeof samplerNames)[number];
  /** From 0 to 1: how many of the traces. */
  ratio: number;
}

/** `isParentSampled` is undefined for a span that begins a trace. */
export type Sampler = (traceId: string, isParentSampled: boolean | undefined) => boolean;

export function createSampler({ name, ratio }: SamplerSettings): Sampler {
  const followsParent = name.startsWith('parentbased_');
  const judge = judges[name.replace('parentbased_', '') as keyof typeof judges];
  return (traceId, isParentSampled) =>
    followsParent && isParentSampled !== undefined ? isParentSampled : judge(traceId, ratio);
}

const judges = {
  always_on: () => true,
  always_off: () => false,
  // The end of an id is random (W3C Trace Context, Level 2). 13 digits are as many as a number holds exactly.
  traceidratio: (traceId: string, ratio: number) => Number.parseInt(traceId.slice(-13), 16) < ratio * 2 ** 52,
};
