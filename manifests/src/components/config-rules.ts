/* Changes and checks of configurations, before anything is read. */
import { isJsonObject } from '@inlay/protocol/json';
import {
  anything,
  type ComponentDefinition,
  component,
  condition,
  either,
  type Given,
  list,
  mapping,
  optional,
  required,
  schema,
  template,
  text,
} from '../component.ts';
import { RunFailure } from '../http/failures.ts';
import { schemaCheck } from '../run/json-schema.ts';
import { matchesOf, removeAtPath, setAtPath, valueAtPath } from '../run/paths.ts';
import { literalTypesOf, valueTypeOption } from './transformations.ts';

type Config = Record<string, unknown>;
type ConfigChange = (config: Config) => void;
type Validation = (value: unknown) => void;

export interface ConfigRules {
  /** Changes that are to be kept: configurations of older versions. */
  migrate: ConfigChange;
  /** Changes for this run only. */
  transform: ConfigChange;
  /** Throws a RunFailure that says what to change. */
  validate: ConfigChange;
}

function makeRules(given: Given): ConfigRules {
  const migrations = given.children<ConfigChange>('config_migrations');
  const transformations = given.children<ConfigChange>('transformations');
  const validations = given.children<ConfigChange>('validations');
  const all =
    (changes: readonly ConfigChange[]): ConfigChange =>
    (config) => {
      for (const change of changes) change(config);
    };
  return { migrate: all(migrations), transform: all(transformations), validate: all(validations) };
}

function makeMigration(given: Given): ConfigChange {
  const changes = given.children<ConfigChange>('transformations');
  return (config) => {
    for (const change of changes) change(config);
  };
}

function makeAddFields(given: Given): ConfigChange {
  const rule = given.condition('condition');
  const fields = (given.value('fields') as unknown[]).map((value) => given.inside(value));
  return (config) => {
    for (const field of fields) {
      const path = field.texts('path');
      const value = given.asTemplate(field.text('value') ?? '').value({ config }, literalTypesOf(field));
      if (!rule || rule.isMet({ config, value, path })) setAtPath(config, path, value);
    }
  };
}

function makeRemoveFields(given: Given): ConfigChange {
  const rule = given.condition('condition');
  const pointers = given.value('field_pointers') as string[][];
  return (config) => {
    if (rule && !rule.isMet({ config, property: config })) return;
    for (const pointer of pointers) removeAtPath(config, pointer.map(String));
  };
}

function makeRemapField(given: Given): ConfigChange {
  const path = given.texts('field_path');
  // The values may be templates, but they are made before there is a configuration.
  const map = given.mapping('map').value({ config: {} });
  return (config) => {
    const keys = path.map((key) => given.asTemplate(key).text({ config }));
    const name = valueAtPath(config, keys)?.value;
    if (typeof name === 'string' && isJsonObject(map) && Object.hasOwn(map, name)) setAtPath(config, keys, map[name]);
  };
}

function makeDpathValidator(given: Given): ConfigChange {
  const check = given.child<Validation>('validation_strategy');
  return (config) => {
    const keys = given.texts('field_path').map((key) => given.asTemplate(key).text({ config }));
    if (keys.includes('*')) {
      for (const { value } of matchesOf(config, keys)) check?.(value);
      return;
    }
    const found = valueAtPath(config, keys);
    // A value that is not there has nothing to check: whether it is required is up to the specification.
    if (found) check?.(found.value);
  };
}

function makePredicateValidator(given: Given): ConfigChange {
  const check = given.child<Validation>('validation_strategy');
  return (config) => {
    const value = given.value('value');
    check?.(typeof value === 'string' ? given.asTemplate(value).value({ config }) : value);
  };
}

function makeSchemaValidation(given: Given): Validation {
  const value = given.value('base_schema');
  const wanted = typeof value === 'string' ? JSON.parse(value) : value;
  const faultOf = schemaCheck(wanted as object);
  return (checked) => {
    const fault = faultOf(typeof checked === 'string' ? readJson(checked) : checked);
    if (fault !== undefined) throw new RunFailure(`The configuration is not valid: ${fault}.`, 'config_error');
  };
}

function readJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const changes = list(
  component('ConfigRemapField', 'ConfigAddFields', 'ConfigRemoveFields', 'CustomConfigTransformation'),
);

export const configRuleComponents: ComponentDefinition[] = [
  {
    name: 'ConfigNormalizationRules',
    step: 'S3',
    words: 'Transformations and validations of a configuration.',
    options: {
      config_migrations: optional(list(component('ConfigMigration')), 'Transformations that are saved.'),
      transformations: optional(changes, 'Transformations for this run only.'),
      validations: optional(list(component('DpathValidator', 'PredicateValidator')), 'Checks.'),
    },
    make: makeRules,
  },
  {
    name: 'ConfigMigration',
    step: 'S3',
    words: 'Migrates a configuration from an older version.',
    options: {
      transformations: required(changes, 'The transformations.'),
      description: optional(text, 'What the migration does.'),
    },
    make: makeMigration,
  },
  {
    name: 'ConfigAddFields',
    step: 'S3',
    words: 'Adds fields to the configuration.',
    options: {
      fields: required(list(component('AddedFieldDefinition')), 'The fields.'),
      condition: optional(condition, 'Adds a field only if true. Available: config, value and path.'),
      value_type: valueTypeOption,
    },
    make: makeAddFields,
  },
  {
    name: 'ConfigRemoveFields',
    step: 'S3',
    words: 'Removes fields from the configuration.',
    options: {
      field_pointers: required(list(list(text)), 'The paths of the fields.'),
      condition: optional(condition, 'Applies only if true. Available: config.'),
    },
    make: makeRemoveFields,
  },
  {
    name: 'ConfigRemapField',
    step: 'S3',
    words: 'Replaces a configuration value.',
    options: {
      map: required(either(template, mapping(anything)), 'Maps old values (strings) to new values.'),
      field_path: required(list(template), 'Path of the value.'),
    },
    make: makeRemapField,
  },
  {
    name: 'DpathValidator',
    step: 'S3',
    words: 'Validates a configuration value.',
    options: {
      field_path: required(list(template), 'Path of the value.'),
      validation_strategy: required(
        component('ValidateAdheresToSchema', 'CustomValidationStrategy'),
        'The validation.',
      ),
    },
    make: makeDpathValidator,
  },
  {
    name: 'PredicateValidator',
    step: 'S3',
    words: 'Validates any value.',
    options: {
      value: required(anything, 'The value, or a template.'),
      validation_strategy: required(
        component('ValidateAdheresToSchema', 'CustomValidationStrategy'),
        'The validation.',
      ),
    },
    make: makePredicateValidator,
  },
  {
    name: 'ValidateAdheresToSchema',
    step: 'S3',
    words: 'Validates a value against a JSON schema.',
    options: { base_schema: required(either(schema, text), 'The JSON schema.') },
    make: makeSchemaValidation,
  },
];
