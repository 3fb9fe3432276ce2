/** The page of a customer in the operator's own system. What stands for the customer is encoded, so it stays one part of it. */
export function customerUrl(template: string, { id, name }: { id: string; name: string }): string {
  return template.replaceAll(/\{(id|name)\}/g, (_, field) => encodeURIComponent(field === 'id' ? id : name));
}
