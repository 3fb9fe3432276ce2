/** A page with one form on it, driven from outside through `window.page`. */

import { ConnectorForm, type ConnectorFormProps } from '@inlay/ui/form/connector-form.tsx';
import { FormWordsContext } from '@inlay/ui/form/form-words.ts';
import { render } from 'preact';
import '../src/style/base.css';
import '@inlay/ui/style/tokens.css';
import { chooseLocale, loadWords } from '../src/words/words.ts';
import './form-page.css';

type Shown = Pick<ConnectorFormProps, 'specification' | 'value' | 'faults' | 'disabled'>;

export const page = {
  submitted: [] as unknown[],
  /** The same key keeps the form, a new one replaces it. */
  async show(props: Shown, key = 'form', locale = 'en') {
    document.documentElement.lang = locale;
    const words = await loadWords(chooseLocale([locale]).language);
    render(
      <FormWordsContext.Provider value={words}>
        <ConnectorForm
          id="connector"
          key={key}
          {...props}
          onSubmit={(configuration) => page.submitted.push(configuration)}
        >
          <button type="submit" id="send" class="page-submit" disabled={props.disabled ?? false}>
            Test and connect
          </button>
        </ConnectorForm>
      </FormWordsContext.Provider>,
      document.getElementById('inlay') as HTMLElement,
    );
  },
};

declare global {
  interface Window {
    page: typeof page;
  }
}
window.page = page;
