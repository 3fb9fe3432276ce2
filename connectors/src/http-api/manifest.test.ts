import { readManifest } from '@inlay/manifests/manifest/read-manifest';
import { definitionOf } from '@inlay/manifests/registry';
import { readLiteral } from '@inlay/manifests/values/literals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ownComponents } from './components.ts';
import { readConfiguration, type StreamConfiguration } from './configuration.ts';
import { exact, toManifest } from './manifest.ts';

const own = ownComponents({ attempts: 1, hasWorked: false });

/** The manifest of a configuration. Every component in it is one that the engine or this connector knows. */
function manifestOf(streams: Partial<StreamConfiguration>[], more: object = {}) {
  const configuration = {
    base_url: 'https://api.test/v1/',
    authentication: { type: 'none' },
    streams: streams.map((stream, index) => ({ name: `s${index}`, path: '/things', ...stream })),
    ...more,
  };
  const { manifest, config } = toManifest(readConfiguration(configuration));
  const definitions = (name: string) => own.find((one) => one.name === name) ?? definitionOf(name);
  expect(readManifest(JSON.stringify(manifest), definitions).problems).toEqual([]);
  return { manifest, config, streams: manifest.streams as Record<string, unknown>[] };
}

describe('a configuration becomes a manifest', () => {
  test('of a base URL, a path and a key', () => {
    const { manifest, config, streams } = manifestOf([{ primary_key: ['id'] }], {
      authentication: { type: 'bearer', token: ' hidden\n' },
      requests_per_second: 2.5,
    });
    expect(streams).toEqual([
      {
        type: 'DeclarativeStream',
        name: 's0',
        primary_key: ['id'],
        retriever: {
          type: 'SimpleRetriever',
          requester: {
            type: 'HttpRequester',
            url: "'https://api.test/v1/things'",
            http_method: 'GET',
            request_headers: { accept: "'application/json'" },
            error_handler: { type: 'CustomErrorHandler' },
            authenticator: {
              type: 'BearerAuthenticator',
              api_token: "{{ config['authentication']['token'] | tojson }}",
            },
          },
          decoder: { type: 'CustomDecoder' },
          record_selector: { type: 'RecordSelector', extractor: { type: 'CustomRecordExtractor' } },
          paginator: { type: 'CustomPaginator' },
          ignore_stream_slicer_parameters_on_paginated_requests: false,
        },
      },
    ]);
    expect(manifest.api_budget).toMatchObject({ policies: [{ rates: [{ limit: 1, interval: 'PT0.400000S' }] }] });
    expect(config.authentication).toEqual({ type: 'bearer', token: 'hidden' });
    // Nothing secret is in the manifest.
    expect(JSON.stringify(manifest)).not.toContain('hidden');
  });

  test.each([
    { type: 'none' },
    { type: 'basic', username: 'a', password: 'b' },
    { type: 'header', name: 'X-Key', value: 'a' },
    { type: 'query', name: 'key', value: 'a' },
    { type: 'client_credentials', token_url: 'https://x.test', client_id: 'a', client_secret: 'b', scope: 'c' },
  ])('with the authentication %j', (authentication) => {
    manifestOf([{}], { authentication });
  });

  test('with every option', () => {
    const { streams } = manifestOf([
      { path: '/a?x=1', body: '{}', fields: [{ name: 'a', type: 'date' }], cursor_field: 'at', cursor_parameter: 'p' },
      {
        path: '/a/{id}/{owner.name}/b',
        parent: { stream: 's0', copy_field: 'parent_id' },
        cursor_field: 'at',
        time_window: { start: '2024-01-01', start_parameter: 'from', end_parameter: 'to', step: 'P1M' },
      },
    ]);
    expect(streams[0]).toMatchObject({ incremental_sync: { type: 'CustomIncrementalSync' } });
    expect(streams[1]).toMatchObject({
      retriever: {
        requester: {
          url: "{{ ('https://api.test/v1/a/' ~ (('' ~ stream_partition['id']) | urlencode) ~ '/' ~ (('' ~ stream_slice.extra_fields['owner.name']) | urlencode) ~ '/b') | tojson }}",
        },
        partition_router: { parent_stream_configs: [{ parent_key: "'id'", extra_fields: [["'owner'", "'name'"]] }] },
      },
      incremental_sync: { type: 'DatetimeBasedCursor', step: 'P1M', cursor_granularity: 'PT1S' },
    });
  });
});

test('a text is the same behind the templates of a manifest, whatever it contains', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const template = exact(text);
      expect(template).not.toMatch(/[{}%#]/);
      expect(readLiteral(template)).toBe(text);
    }),
  );
  for (const text of ['1e3', '{{ config }}', "['a']", '"\'\\', '{% if %}', '#/definitions/x', '\ud800', '💡']) {
    expect(readLiteral(exact(text))).toBe(text);
  }
});
