/** Sync modes as in the platform's API. A stream supports those that its source and destination share. */
export const syncModes = [
  'full_refresh_overwrite',
  'full_refresh_overwrite_deduped',
  'full_refresh_append',
  'full_refresh_update',
  'full_refresh_soft_delete',
  'incremental_append',
  'incremental_deduped_history',
  'incremental_update',
  'incremental_soft_delete',
] as const;
