/**
 * The connectors that come with the platform. Their ids are part of stored data and of callers' code, so they never change.
 */
import { specification as destinationPostgresSpecification } from '@inlay/connectors/destination-postgres/specification';
import { specification as fileSpecification } from '@inlay/connectors/file/specification';
import { specification as httpApiSpecification } from '@inlay/connectors/http-api/specification';
import { specification as localFilesSpecification } from '@inlay/connectors/local-files/specification';
import { specification as s3Specification } from '@inlay/connectors/s3/specification';
import { specification as sampleDataSpecification } from '@inlay/connectors/sample-data/specification';
import { specification as sourcePostgresSpecification } from '@inlay/connectors/source-postgres/specification';
import type { Definition } from './definitions.ts';
import { iconOf } from './icons.ts';

const sampleData: Definition = {
  definitionId: '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14',
  kind: 'source',
  slug: 'sample-data',
  icon: iconOf('sample-data'),
  name: 'Sample Data',
  version: '0.1.0',
  documentation:
    'Generates users, products and purchases, so that you can try a pipeline without any account. ' +
    'The same seed and count always produce the same records.',
  specification: sampleDataSpecification,
};

const localFiles: Definition = {
  definitionId: 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815',
  kind: 'destination',
  slug: 'local-files',
  icon: iconOf('local-files'),
  name: 'Local Files',
  version: '0.1.0',
  documentation:
    "Writes each stream to JSON Lines or CSV files in the workspace's own folder. " +
    'Files appear only when they are complete.',
  specification: localFilesSpecification,
};

const httpApi: Definition = {
  definitionId: '4dae2d0e-d1c3-49e9-91f2-23f8d5661568',
  kind: 'source',
  slug: 'http-api',
  icon: iconOf('http-api'),
  name: 'HTTP API',
  version: '0.1.0',
  documentation:
    'Reads lists from a JSON API page by page, in full or incrementally by a cursor field. ' +
    'Integers too large for an exact JavaScript number are passed on as text.',
  specification: httpApiSpecification,
};

const file: Definition = {
  definitionId: '742c4fde-cd3a-4b95-9f9d-de63de14acb3',
  kind: 'source',
  slug: 'file',
  icon: iconOf('file'),
  name: 'File',
  version: '0.1.0',
  documentation:
    'Reads CSV, JSON Lines and JSON from a URL, or from server folders that the operator allows. ' +
    'Incremental syncs skip unchanged files; a changed file is read in full. Each record names its file in ' +
    '_file and _file_modified_at.',
  specification: fileSpecification,
};

const sourcePostgres: Definition = {
  definitionId: '9e0b7c34-52a1-4d6f-b8e3-1f46a7d05c92',
  kind: 'source',
  slug: 'postgres',
  icon: iconOf('postgres'),
  name: 'PostgreSQL',
  version: '0.1.0',
  documentation:
    'Reads tables and views, in full or incrementally by a cursor column. All tables of a sync are read as of the ' +
    'same moment.',
  specification: sourcePostgresSpecification,
  launch: { type: 'bundled', name: 'source-postgres' },
};

const destinationPostgres: Definition = {
  definitionId: '3b82f6d1-0c47-4e9a-a5d8-6e19c2b7f043',
  kind: 'destination',
  slug: 'postgres',
  icon: iconOf('postgres'),
  name: 'PostgreSQL',
  version: '0.1.0',
  documentation:
    'Writes one table per stream, with a typed column for each field. Columns are added and widened as ' +
    'the stream changes.',
  specification: destinationPostgresSpecification,
  launch: { type: 'bundled', name: 'destination-postgres' },
};

const s3: Definition = {
  definitionId: '8e4b6c1d-2f57-4a90-b3e8-d15c7f09a264',
  kind: 'destination',
  slug: 's3',
  icon: iconOf('s3'),
  name: 'S3',
  version: '0.1.0',
  documentation:
    'Writes compressed JSON Lines objects to a bucket on AWS S3 or an S3-compatible store, such as ' +
    'MinIO or Cloudflare R2. The key needs permission to write, list and delete objects under the prefix.',
  specification: s3Specification,
};

export const bundledDefinitions: readonly Definition[] = [
  sampleData,
  sourcePostgres,
  httpApi,
  file,
  localFiles,
  destinationPostgres,
  s3,
];
