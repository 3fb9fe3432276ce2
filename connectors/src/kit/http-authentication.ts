/* The choices of a form that say who asks, as headers carry it: see http-settings.ts. */
export const noAuthentication = {
  title: 'None',
  required: ['type'],
  properties: { type: { type: 'string', const: 'none', order: 0 } },
};

export const bearerToken = {
  title: 'Bearer token',
  required: ['type', 'token'],
  properties: {
    type: { type: 'string', const: 'bearer', order: 0 },
    token: { type: 'string', title: 'Token', minLength: 1, airbyte_secret: true, order: 1 },
  },
};

export const userAndPassword = {
  title: 'Username and password',
  required: ['type', 'username', 'password'],
  properties: {
    type: { type: 'string', const: 'basic', order: 0 },
    // RFC 7617: the first colon ends the user name.
    username: { type: 'string', title: 'Username', pattern: '^[^:]*$', order: 1 },
    password: { type: 'string', title: 'Password', airbyte_secret: true, order: 2 },
  },
};
