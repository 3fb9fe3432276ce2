/**
 * W3C Trace Context (https://www.w3.org/TR/trace-context/): the headers `traceparent` and `tracestate`, read strictly and
 * written. A header that breaks the rules counts as absent.
 */

export interface TraceContext {
  /** 32 hex digits in lower case: the same in all services that take part. */
  readonly traceId: string;
  /** 16 hex digits in lower case: the piece of work that calls. */
  readonly spanId: string;
  /** One byte. Bit 0: the caller records the trace. Bit 1: the trace id is random. */
  readonly flags: number;
  /** Vendor-specific state to propagate. */
  readonly tracestate?: string;
}

export const sampledFlag = 1;
/** The flags that we know. The specification requires all others to be cleared. */
const knownFlags = 0b11;

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

type HeaderValue = string | string[] | undefined;

export function readTraceContext(traceparent: HeaderValue, tracestate?: HeaderValue): TraceContext | undefined {
  // A header that is sent twice arrives joined by a comma, or as a list: neither has this form.
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const state = readTracestate(tracestate);
  return {
    traceId,
    spanId,
    flags: Number.parseInt(flags, 16) & knownFlags,
    ...(state === undefined ? {} : { tracestate: state }),
  };
}

export function traceparentOf({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}

/** Headers that propagate the context. */
export function traceHeaders(trace: TraceContext | undefined): Record<string, string> {
  if (!trace) return {};
  return {
    traceparent: traceparentOf(trace),
    ...(trace.tracestate === undefined ? {} : { tracestate: trace.tracestate }),
  };
}

export function isSampled({ flags }: TraceContext): boolean {
  return (flags & sampledFlag) !== 0;
}

const maxMembers = 32;
const maxStateLength = 512;
const memberForm =
  /^(?:[a-z0-9][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** A list with one bad member is dropped as a whole. A list that is too long loses its last members, which are the oldest. */
function readTracestate(given: HeaderValue): string | undefined {
  const text = Array.isArray(given) ? given.join(',') : given;
  if (text === undefined || text.length > 8_192) return undefined;
  const members = text
    .split(',')
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '');
  if (members.length === 0 || members.length > maxMembers || !members.every((member) => memberForm.test(member))) {
    return undefined;
  }
  const keys = members.map((member) => member.slice(0, member.indexOf('=')));
  if (new Set(keys).size < keys.length) return undefined;
  while (members.join(',').length > maxStateLength) members.pop();
  return members.length === 0 ? undefined : members.join(',');
}
