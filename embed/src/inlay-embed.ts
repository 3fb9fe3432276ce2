/** Opens the widget in a page. */
export type { WidgetEvent, WidgetTheme } from '@inlay/contract/embedding';
