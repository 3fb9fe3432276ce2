/** An invalid key: mistyped, truncated or of another kind. The message never contains the key. */
export class WebhookKeyError extends Error {
  override name = 'WebhookKeyError';
}
