/*
 * What a store's refusal means, in words for the person who set the connector up, and whether it is worth trying again.
 * The store's own message is quoted only for refusals not known here; it never contains the secret, which is not sent.
 */
import { ConnectorError } from '@inlay/protocol/connector';
import type { Settings } from './settings.ts';
import { textIn } from './xml.ts';

export interface Refusal {
  status: number;
  /** The error code of the S3 API, or empty when the answer has none. */
  code: string;
  message: string;
  /** The bucket's actual region, if the store reports it. */
  region: string | undefined;
}

const transientCodes = ['InternalError', 'OperationAborted', 'RequestTimeout', 'ServiceUnavailable', 'SlowDown'];
const wrongRegionCodes = [
  'AuthorizationHeaderMalformed',
  'InvalidRegionName',
  'PermanentRedirect',
  'TemporaryRedirect',
];

export function readRefusal(status: number, headers: Record<string, unknown>, body: string): Refusal {
  const region = textIn(body, 'Region') ?? headers['x-amz-bucket-region'];
  return {
    status,
    code: textIn(body, 'Code') ?? '',
    message: textIn(body, 'Message') ?? '',
    region: typeof region === 'string' ? region : undefined,
  };
}

export function isTransient({ status, code }: Refusal): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501) || transientCodes.includes(code);
}

/** The store claims to have completed a request, and has not. */
export function doubtError(doubt: string, doing: string): ConnectorError {
  return new ConnectorError(`The store could not ${doing}: it repeatedly ${doubt}. Check any proxy in front of it.`, {
    failureType: 'transient_error',
    fields: ['endpoint'],
  });
}

/** `doing` completes "The key is not allowed to …". */
export function refusalError(refusal: Refusal, doing: string, { bucket, region }: Settings): ConnectorError {
  const { status, code } = refusal;
  if (status === 301 || wrongRegionCodes.includes(code)) {
    const hint = refusal.region === undefined ? "Set the bucket's region." : `Set the region to ${refusal.region}.`;
    return new ConnectorError(`The bucket ${bucket} is not in the region ${region}. ${hint}`).about('region');
  }
  if (isTransient(refusal)) {
    return new ConnectorError(
      `The store could not ${doing}: it repeatedly returned ${code || status}. It may be overloaded. Try again later.`,
      { failureType: 'transient_error', fields: ['endpoint'] },
    );
  }
  if (code === 'NoSuchUpload') {
    return new ConnectorError('The store or another run aborted an upload before it was complete.', {
      failureType: 'transient_error',
    });
  }
  const known: Record<string, [message: string, field: string]> = {
    NoSuchBucket: [`The bucket ${bucket} does not exist. Check its name or create it.`, 'bucket'],
    InvalidBucketName: [`${bucket} is not a valid bucket name.`, 'bucket'],
    InvalidAccessKeyId: ['Unknown access key ID. Check it or create a new key.', 'access_key_id'],
    SignatureDoesNotMatch: [
      'The secret access key does not match the access key ID. Enter both again.',
      'secret_access_key',
    ],
    AccessDenied: [
      `The key is not allowed to ${doing} in the bucket ${bucket}. Grant it this permission.`,
      'access_key_id',
    ],
    AllAccessDisabled: [`The bucket ${bucket} is disabled. Contact the store's operator.`, 'bucket'],
    RequestTimeTooSkewed: [
      "The clocks of this machine and the store differ by more than 15 minutes. Correct this machine's clock.",
      'endpoint',
    ],
    QuotaExceeded: [`The bucket ${bucket} is full. Free up space or raise its quota.`, 'bucket'],
  };
  const explained = known[code];
  if (explained) return new ConnectorError(explained[0], { fields: [explained[1]] });
  if (code === '') {
    return new ConnectorError(
      `The endpoint returned ${status} and does not seem to be an S3-compatible store. Check the endpoint.`,
      { fields: ['endpoint'] },
    );
  }
  return new ConnectorError(`The store refused to ${doing}: ${code}. ${refusal.message.slice(0, 300)}`.trim());
}
