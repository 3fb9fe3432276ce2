/** URL of a customer in the operator's own system. Values are percent-encoded, so a name cannot add path segments. */
export function customerUrl(template: string, { id, name }: { id: string; name: string }): string {
  return template.replaceAll(/\{(id|name)\}/g, (_, field) => encodeURIComponent(field === 'id' ? id : name));
}
