import { counted } from '../../words/counted.ts';
import { formatting } from '../../words/formatting.ts';

export const words = {
  title: 'Connectors',
  search: 'Search by name',
  type: 'Type',
  types: { source: 'Sources', destination: 'Destinations' },
  name: 'Name',
  version: 'Version',
  support: 'Support',
  origin: 'Origin',
  own: 'Custom',
  catalogue: 'Built-in',
  add: 'Add manifest',
  addText: 'Paste a declarative manifest in YAML or JSON, or drop a file here.',
  manifest: 'Manifest',
  file: 'Or choose a file',
  ownNameHint: 'Leave empty to use the manifest’s title.',
  useIt: 'Create template',
  documentation: 'Documentation',
  streams: 'Streams',
  stream: 'Stream',
  supported: 'Supported',
  yes: 'Yes',
  no: 'No',
  dynamic: 'discovered at runtime',
  problems: 'Unsupported',
  warnings: 'Ignored',
  replace: 'New version',
  replaceText:
    'Sources move to the new version if their settings are compatible. The others stay on their current version.',
  moved: (moved: number, staying: number) =>
    staying === 0
      ? `${counted(moved, 'source')} updated.`
      : `${counted(moved, 'source')} updated, ${counted(staying, 'source stays', 'sources stay')} on an earlier version.`,
  staying: {
    title: 'Sources on an earlier version',
    source: 'Source',
    reason: 'Reason',
  },
  versions: {
    sources: 'Sources',
    counts: (supported: number, unsupported: number) =>
      unsupported === 0
        ? `${formatting.number(supported)} supported`
        : `${formatting.number(supported)} supported, ${formatting.number(unsupported)} unsupported`,
    states: { runs: 'supported', left_out: 'unsupported' },
    added: (state: string) => `added, ${state}`,
    gone: 'removed',
    same: 'No changes to streams',
    more: (count: number) => `and ${formatting.number(count)} more`,
    show: 'View',
    showOf: (version: number) => `View version ${formatting.number(version)}`,
    one: (version: number) => `Version ${formatting.number(version)}`,
    copyManifest: 'Copy manifest',
    restoreText:
      'Creates a new version from this manifest and its stored secrets. Sources move to it if their settings are compatible. The others stay on their current version.',
  },
  delete: 'Delete connector',
  deleteText: 'You can’t delete a connector that templates use, and you can’t undo this.',
  deleted: 'Connector deleted',
  specification: 'Configuration schema',
  copySpecification: 'Copy schema',
};
