/** A key that cannot be used: it was mistyped, cut off or is of another kind. The message never holds the key. */
export class WebhookKeyError extends Error {
  override name = 'WebhookKeyError';
}
