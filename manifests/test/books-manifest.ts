/* A manifest for tests: a made-up API of books, read by a cursor. */

interface Options {
  /** The API's address. */
  url: string;
  /** More streams, in YAML, each beginning with `  - `. */
  more?: string;
  /** More properties of the configuration, in YAML. */
  properties?: string;
  required?: string[];
  /** Another field that each record gets. */
  added?: string;
}

export function booksManifest({
  url,
  more = '',
  properties = '',
  required = ['token'],
  added = 'shelf',
}: Options): string {
  return `version: 6.44.0
type: DeclarativeSource
check:
  type: CheckStream
  stream_names: [books]
definitions:
  requester:
    type: HttpRequester
    url_base: ${url}
    authenticator:
      type: BearerAuthenticator
      api_token: "{{ config['token'] }}"
streams:
  - type: DeclarativeStream
    name: books
    primary_key: id
    incremental_sync:
      type: DatetimeBasedCursor
      cursor_field: updated
      datetime_format: "%Y-%m-%d"
      start_datetime: "2020-01-01"
      start_time_option:
        type: RequestOption
        inject_into: request_parameter
        field_name: since
    retriever:
      type: SimpleRetriever
      requester:
        $ref: "#/definitions/requester"
        path: books
      record_selector:
        type: RecordSelector
        extractor:
          type: DpathExtractor
          field_path: [books]
    transformations:
      - type: AddFields
        fields:
          - path: [${added}]
            value: "shelf {{ record['id'] }}"
    schema_loader:
      type: InlineSchemaLoader
      schema:
        type: object
        properties:
          id: { type: integer }
          title: { type: string }
          updated: { type: string }
          ${added}: { type: string }
${more}spec:
  type: Spec
  connection_specification:
    type: object
    title: Books Spec
    required: [${required.join(', ')}]
    properties:
      token: { type: string, airbyte_secret: true }
${properties}`;
}

/** A stream that only code can read. */
export const codedStream = (name: string) => `  - type: DeclarativeStream
    name: ${name}
    retriever:
      type: SimpleRetriever
      requester:
        $ref: "#/definitions/requester"
        path: ${name}
        authenticator:
          type: CustomAuthenticator
          class_name: source_books.components.Auth
      record_selector:
        type: RecordSelector
        extractor: { type: DpathExtractor, field_path: [] }
    schema_loader:
      type: InlineSchemaLoader
      schema: { type: object }
`;
