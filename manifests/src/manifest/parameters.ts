/*
 * Propagates `$parameters`: a component gets every parameter of its ancestors as an option, unless it has that option
 * itself, and keeps all of them as `$parameters` for its templates. Also adds the types that components omit where
 * their place implies it.
 */
import { isJsonObject } from '@inlay/protocol/json';

type Component = Record<string, unknown>;

/** The type of a component without one, by the type of the component that it belongs to and the option that it is. */
const impliedTypes: Record<string, string> = {
  'CompositeErrorHandler.error_handlers': 'DefaultErrorHandler',
  'CursorPagination.decoder': 'JsonDecoder',
  'DatetimeBasedCursor.end_datetime': 'MinMaxDatetime',
  'DatetimeBasedCursor.end_time_option': 'RequestOption',
  'DatetimeBasedCursor.start_datetime': 'MinMaxDatetime',
  'DatetimeBasedCursor.start_time_option': 'RequestOption',
  'DeclarativeSource.check': 'CheckStream',
  'DeclarativeSource.spec': 'Spec',
  'DeclarativeSource.streams': 'DeclarativeStream',
  'DeclarativeStream.retriever': 'SimpleRetriever',
  'DeclarativeStream.schema_loader': 'JsonFileSchemaLoader',
  'DynamicDeclarativeStream.stream_template': 'DeclarativeStream',
  'DynamicDeclarativeStream.components_resolver': 'ConfigComponentsResolver',
  'HttpComponentsResolver.retriever': 'SimpleRetriever',
  'HttpComponentsResolver.components_mapping': 'ComponentMappingDefinition',
  'ConfigComponentsResolver.stream_config': 'StreamConfig',
  'ConfigComponentsResolver.components_mapping': 'ComponentMappingDefinition',
  'DefaultErrorHandler.response_filters': 'HttpResponseFilter',
  'DefaultPaginator.decoder': 'JsonDecoder',
  'DefaultPaginator.page_size_option': 'RequestOption',
  'DpathExtractor.decoder': 'JsonDecoder',
  'DpathExtractor.record_expander': 'RecordExpander',
  'HttpRequester.error_handler': 'DefaultErrorHandler',
  'ListPartitionRouter.request_option': 'RequestOption',
  'ParentStreamConfig.request_option': 'RequestOption',
  'ParentStreamConfig.stream': 'DeclarativeStream',
  'RecordSelector.extractor': 'DpathExtractor',
  'RecordSelector.record_filter': 'RecordFilter',
  'SimpleRetriever.paginator': 'NoPagination',
  'SimpleRetriever.record_selector': 'RecordSelector',
  'SimpleRetriever.requester': 'HttpRequester',
  'SubstreamPartitionRouter.parent_stream_configs': 'ParentStreamConfig',
  'AddFields.fields': 'AddedFieldDefinition',
  'CustomPartitionRouter.parent_stream_configs': 'ParentStreamConfig',
  'DynamicSchemaLoader.retriever': 'SimpleRetriever',
  'SchemaTypeIdentifier.types_map': 'TypesMap',
  'StreamGroup.streams': 'DeclarativeStream',
  // Components without their own type in the language.
  'DynamicSchemaLoader.schema_type_identifier': 'SchemaTypeIdentifier',
  'SchemaTypeIdentifier.types_mapping': 'TypesMap',
  'OAuthAuthenticator.refresh_token_updater': 'RefreshTokenUpdater',
  'Spec.config_normalization_rules': 'ConfigNormalizationRules',
};

/** The same for a component that names a class of code. */
const impliedCustomTypes: Record<string, string> = {
  'CompositeErrorHandler.backoff_strategies': 'CustomBackoffStrategy',
  'DeclarativeStream.retriever': 'CustomRetriever',
  'DeclarativeStream.transformations': 'CustomTransformation',
  'DefaultErrorHandler.backoff_strategies': 'CustomBackoffStrategy',
  'DefaultPaginator.pagination_strategy': 'CustomPaginationStrategy',
  'HttpRequester.authenticator': 'CustomAuthenticator',
  'HttpRequester.error_handler': 'CustomErrorHandler',
  'RecordSelector.extractor': 'CustomRecordExtractor',
  'SimpleRetriever.partition_router': 'CustomPartitionRouter',
};

/**
 * A copy of the component with types and parameters. `place` is where it stands, such as `DeclarativeStream.retriever`.
 * `parentsWin`: a parameter from around the component beats the one that the component brings.
 */
export function withParameters(place: string, given: Component, around: Component = {}, parentsWin = false): Component {
  const { $parameters: brought, ...component }: Component = given;
  const own = isJsonObject(brought) ? brought : {};
  const parameters: Component = parentsWin ? { ...own, ...around } : { ...around, ...own };
  if (component.type === undefined) {
    const implied = ('class_name' in component ? impliedCustomTypes : impliedTypes)[place];
    if (implied !== undefined) component.type = implied;
  }
  if (isJsonSchema(component)) return component;
  if (component.type === undefined) return withParametersInside(place, component, parameters, parentsWin);
  // An empty option counts as none.
  for (const [key, value] of Object.entries(parameters)) if (isEmpty(component[key])) component[key] = value;
  for (const [key, value] of Object.entries(component)) {
    if (typeof value !== 'object' || value === null) continue;
    // A parameter is not propagated into the option with its own name: that would never end.
    const { [key]: _own, ...inner } = parameters;
    const innerPlace = `${String(component.type)}.${key}`;
    if (isJsonObject(value)) component[key] = withParameters(innerPlace, value, inner, parentsWin);
    else if (Array.isArray(value)) {
      component[key] = value.map((item) =>
        isJsonObject(item) ? withParameters(innerPlace, item, inner, parentsWin) : item,
      );
    }
  }
  if (Object.keys(parameters).length > 0) component.$parameters = parameters;
  return component;
}

/** An object that is not a component may contain some, such as the request parameters of a requester. */
function withParametersInside(
  place: string,
  component: Component,
  parameters: Component,
  parentsWin: boolean,
): Component {
  for (const [key, value] of Object.entries(component)) {
    if (isJsonObject(value) && value.type) component[key] = withParameters(place, value, parameters, parentsWin);
  }
  return component;
}

function isJsonSchema({ type }: Component): boolean {
  return type === 'object' || Array.isArray(type);
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === '' || value === 0 || value === false;
}
