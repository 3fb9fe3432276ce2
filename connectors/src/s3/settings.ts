/* The configuration as the rest of the connector uses it; its rules are in specification.ts. */
import { type Configuration, ConnectorError } from '@inlay/protocol/connector';

export interface Settings {
  /** The bucket's own address, without a slash at the end; a key is appended to it. */
  bucketUrl: string;
  bucket: string;
  region: string;
  /** Empty, or ends with a slash. */
  prefix: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Temporary credentials have one. */
  sessionToken?: string | undefined;
}

export function readSettings(config: Configuration): Settings {
  const bucket = textOf(config, 'bucket');
  const region = textOf(config, 'region', 'us-east-1');
  const prefix = textOf(config, 'prefix', '').replace(/\/$/, '');
  return {
    bucketUrl: bucketUrl(textOf(config, 'endpoint', ''), region, bucket),
    bucket,
    region,
    prefix: prefix === '' ? '' : `${prefix}/`,
    accessKeyId: textOf(config, 'access_key_id'),
    secretAccessKey: textOf(config, 'secret_access_key'),
  };
}

/** An empty value counts as absent, because that is what a form sends for a field left empty. */
function textOf(config: Configuration, name: string, fallback?: string): string {
  const value = config[name];
  if (typeof value === 'string' && value !== '') return value;
  if (fallback === undefined) throw new ConnectorError(`The setting ${name} is missing.`).about(name);
  return fallback;
}

function bucketUrl(endpoint: string, region: string, bucket: string): string {
  if (endpoint !== '') {
    if (!URL.canParse(endpoint)) throw new ConnectorError('The endpoint is not a valid URL.').about('endpoint');
    return `${endpoint.replace(/\/+$/, '')}/${bucket}`;
  }
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  // A certificate for *.s3.… does not cover a bucket name with dots.
  return bucket.includes('.') ? `https://s3.${region}.${domain}/${bucket}` : `https://${bucket}.s3.${region}.${domain}`;
}
