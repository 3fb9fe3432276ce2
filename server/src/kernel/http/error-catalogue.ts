/** What an answer says of an error, read from the error catalog of the contract. */
import { STATUS_CODES } from 'node:http';
import {
  type CatalogueEntry,
  type ErrorCode,
  errorCatalogue,
  type FactsOf,
  type RefusalCode,
  refusals,
} from '@inlay/contract/error-catalogue';

export function statusOf<Code extends ErrorCode>(code: Code, facts: FactsOf<Code>): number {
  const { status }: CatalogueEntry<Code> = errorCatalogue[code];
  return typeof status === 'function' ? status(facts) : status;
}

export function detailOf<Code extends ErrorCode>(code: Code, facts: FactsOf<Code>): string {
  const { detail }: CatalogueEntry<Code> = errorCatalogue[code];
  return typeof detail === 'function' ? detail(facts) : detail;
}

/** A detail for the reference. */
export function exampleDetail(code: ErrorCode, isForCustomers = false): string {
  const { detail, example: common, customerExample } = errorCatalogue[code];
  const example = (isForCustomers ? customerExample : undefined) ?? common;
  if (typeof detail === 'string') return example ?? detail;
  if (example === undefined) throw new Error(`The error ${code} needs an example: its detail depends on facts.`);
  return example;
}

export function refusalDetail(code: RefusalCode): string {
  return STATUS_CODES[refusals[code].status] ?? 'Error';
}

/** The refusal with this status; `bad_request` for a status without a refusal. */
export function refusalWith(status: number): RefusalCode {
  const codes = Object.keys(refusals) as RefusalCode[];
  return codes.find((code) => refusals[code].status === status) ?? 'bad_request';
}

/** All codes that an error can have. */
export const errorCodes: string[] = [...Object.keys(errorCatalogue), ...Object.keys(refusals)].toSorted();

/** What every path of the API may refuse, whatever its endpoint does, sorted by status. */
export function refusalsOnAnyPath(): { status: number; code: string; detail: string; when: string }[] {
  const codes = (Object.keys(refusals) as RefusalCode[]).filter((code) => code !== 'not_ready');
  const unknownPath = { code: 'route_not_found', detail: exampleDetail('route_not_found') };
  return [
    { status: statusOf('route_not_found', {}), ...unknownPath, when: errorCatalogue.route_not_found.when },
    ...codes.map((code) => ({ code, ...refusals[code], detail: refusalDetail(code) })),
  ].toSorted((a, b) => a.status - b.status);
}
