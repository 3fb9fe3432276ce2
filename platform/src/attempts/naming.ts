/** How a connection names the streams of its source at the destination. Pure. */
import type { Naming } from './desk.ts';

const sourceNamespace = `$${'{SOURCE_NAMESPACE}'}`;

export function renaming({ prefix, namespaceDefinition: definition, namespaceFormat: format }: Naming) {
  const namespace = (given: string | undefined) => {
    if (definition === 'source') return given;
    if (definition === 'destination') return undefined;
    return format?.replaceAll(sourceNamespace, given ?? '').trim() || undefined;
  };
  return { prefix, namespace };
}

/** Whether the namespace of every stream is the same. */
export const isFixed = (format: string) => !format.includes(sourceNamespace);
