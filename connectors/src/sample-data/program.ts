/* What the build makes one file of: the connector, and what runs it as a program. */
export { runProgram } from '@inlay/protocol/program';
export { connector } from './connector.ts';
