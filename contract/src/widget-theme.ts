/** Theme of the widget, set in a widget token request or through the embed library. */
import { Type } from 'typebox';
import { colorSchemes, type WidgetTheme as Theme, widgetLocales } from './embedding.ts';
import { Enumeration } from './fields.ts';

const Color = (description: string, example: string) =>
  Type.String({
    format: 'css-color',
    maxLength: 64,
    description: `${description} Any CSS color value or name.`,
    examples: [example],
  });

const fields = {
  color_scheme: Type.Optional(
    Enumeration(colorSchemes, {
      default: 'auto',
      description: "Color scheme. `auto` follows the customer's own setting.",
    }),
  ),
  primary_color: Type.Optional(Color('Color of buttons, links and focus rings.', '#4f46e5')),
  background_color: Type.Optional(Color('Background color.', '#ffffff')),
  text_color: Type.Optional(Color('Text', '#111827')),
  radius: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 32, description: 'Corner radius in pixels.', examples: [8] }),
  ),
  font_family: Type.Optional(
    Type.String({
      format: 'font-family',
      maxLength: 200,
      description: "Fonts installed on the customer's machine, as in CSS. No fonts are downloaded.",
      examples: ['Inter, system-ui, sans-serif'],
    }),
  ),
  logo_url: Type.Optional(
    Type.String({
      format: 'image-address',
      maxLength: 1_000,
      description: 'URL of an image above the widget. Only loaded from the embedding origin.',
      examples: ['https://app.example.com/logo.svg'],
    }),
  ),
} satisfies Record<keyof Theme, unknown>;

export const WidgetTheme = Type.Object(fields, {
  title: 'Widget theme',
  examples: [{ color_scheme: 'light', primary_color: '#4f46e5', radius: 8 }],
});

export const WidgetLocale = Enumeration(widgetLocales, {
  description: "Language of the widget. Defaults to the browser's language, or English.",
  examples: ['de'],
});
