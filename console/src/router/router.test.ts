import { expect, it } from 'vitest';
import { pathTo, placeOf } from './router.ts';

it.each(['overview', 'customers', 'connections', 'jobs'] as const)('finds its own path to %s', (screen) => {
  expect(placeOf(pathTo(screen), '').screen).toBe(screen);
});

it('takes a customer and a job by id, whatever is in it', () => {
  const id = 'a/b c?d';
  expect(placeOf(pathTo('customer', id), '')).toMatchObject({ screen: 'customer', id });
  expect(placeOf(pathTo('job', '17'), '')).toMatchObject({ screen: 'job', id: '17' });
});

it('keeps only filters that are set', () => {
  expect(pathTo('customers', undefined, { health: 'failing', status: undefined, name_contains: '' })).toBe(
    'customers?health=failing',
  );
});

it('shows the overview for an unknown or malformed URL', () => {
  expect(placeOf('%E0%A4%A', '').screen).toBe('overview');
  expect(placeOf('no/such', '').screen).toBe('overview');
});
