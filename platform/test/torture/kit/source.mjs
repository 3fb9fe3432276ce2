// A source built on a public kit for connectors: two streams, of which one is read on from its cursor.
import {
  AirbyteSourceBase,
  AirbyteSourceLogger,
  AirbyteSourceRunner,
  AirbyteSpec,
  AirbyteStreamBase,
} from 'faros-airbyte-cdk';

class Things extends AirbyteStreamBase {
  constructor(logger, count) {
    super(logger);
    this.count = count;
  }
  get name() {
    return 'things';
  }
  get primaryKey() {
    return 'id';
  }
  get cursorField() {
    return 'id';
  }
  getJsonSchema() {
    return { type: 'object', properties: { id: { type: 'integer' }, name: { type: ['null', 'string'] } } };
  }
  async *readRecords(_syncMode, _cursorField, _slice, state) {
    for (let id = (state?.last ?? 0) + 1; id <= this.count; id++) yield { id, name: `thing ${id}` };
  }
  getUpdatedState(state, { id }) {
    return { last: Math.max(state?.last ?? 0, id) };
  }
}

class Others extends AirbyteStreamBase {
  get name() {
    return 'others';
  }
  get primaryKey() {
    return undefined;
  }
  getJsonSchema() {
    return { type: 'object', properties: { id: { type: 'integer' } } };
  }
  async *readRecords() {
    for (let id = 1; id <= 5; id++) yield { id };
  }
}

class Source extends AirbyteSourceBase {
  get type() {
    return 'torture';
  }
  async spec() {
    return new AirbyteSpec({ connectionSpecification: { type: 'object', properties: { count: { type: 'integer' } } } });
  }
  async checkConnection() {
    return [true, undefined];
  }
  streams({ count }) {
    return [new Things(this.logger, count), new Others(this.logger)];
  }
}

const logger = new AirbyteSourceLogger();
new AirbyteSourceRunner(logger, new Source(logger)).mainCommand().parse();
