// A destination built on a public connector kit: notes every message in the file of its configuration and returns each
// state unchanged.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import {
  AirbyteConnectionStatus,
  AirbyteConnectionStatusMessage,
  AirbyteDestination,
  AirbyteDestinationRunner,
  AirbyteLogger,
  AirbyteSpec,
  parseAirbyteMessage,
} from 'faros-airbyte-cdk';

class Destination extends AirbyteDestination {
  async spec() {
    return new AirbyteSpec({
      connectionSpecification: { type: 'object', properties: { file: { type: 'string' } } },
      supported_destination_sync_modes: ['append', 'overwrite'],
    });
  }
  async check() {
    return new AirbyteConnectionStatusMessage({ status: AirbyteConnectionStatus.SUCCEEDED });
  }
  async *write({ file }, _redacted, _catalog, stdin) {
    for await (const line of createInterface({ input: stdin })) {
      const message = parseAirbyteMessage(line);
      appendFileSync(file, `${JSON.stringify(message)}\n`);
      if (message.type === 'STATE') yield message;
    }
  }
}

new AirbyteDestinationRunner(new AirbyteLogger(), new Destination()).mainCommand().parse();
