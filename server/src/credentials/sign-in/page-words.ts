/** Every text of the pages of a sign-in, in the languages of the widget. The English texts are the model. */

import type { FlowFailure } from '@inlay/contract/credentials/oauth-flows';
import { type WidgetLocale, widgetLocales } from '@inlay/contract/embedding';

const en = {
  askTitle: (provider: string) => `Connect ${provider}?`,
  asks: (product: string, provider: string) => `${product} asks you to sign in with ${provider}.`,
  somebodyAsks: (provider: string) => `An application asks you to sign in with ${provider}.`,
  forCustomer: (customer: string) => `The account that you sign in with will be connected for ${customer}.`,
  forApplication: 'The account that you sign in with will be connected to this application.',
  scopes: 'Requested permissions:',
  careful: 'Continue only if you started this yourself, or know who sent you the link.',
  goOn: (provider: string) => `Continue to ${provider}`,
  needsScript: 'This page needs JavaScript.',
  going: 'One moment …',
  overTitle: 'This link is no longer valid',
  over: 'Sign-in links work once and for a limited time. Go back to the application and start again.',
  connectedTitle: 'You are signed in',
  connectedAs: (account: string) => `Connected as ${account}.`,
  oneStepLeft: (name: string) =>
    `One step left: open “${name}” in the application and fill in the rest. You do not have to sign in again.`,
  close: 'You can close this window.',
  goBack: 'Close this window and start again in the application.',
  otherTitle: 'You used a different account',
  other: (account: string, before: string) => `You signed in as ${account}. Before, it was ${before}.`,
  unknownOther: 'You signed in with a different account than before.',
  confirmThere: 'Go back to the application and choose whether to use this account.',
  confirm: 'Use this account',
  failedTitle: 'Sign-in failed',
  failures: {
    denied: 'You did not agree to connect your account.',
    expired: 'The sign-in took too long.',
    refused: 'The provider rejected the sign-in.',
    unreachable: "The provider isn't responding.",
    scopes_missing: 'Some required permissions were not granted. Agree to all of them:',
    other_account: 'You signed in with a different account than before.',
    not_possible: 'Sign-in is not available right now. Contact the support of the application.',
  } satisfies Record<FlowFailure, string> as Record<FlowFailure, string>,
  waitingTitle: 'Almost there',
  waiting: 'Waiting for the provider. This page updates automatically.',
};
export type PageWords = typeof en;

const de: PageWords = {
  askTitle: (provider) => `${provider} verbinden?`,
  asks: (product, provider) => `${product} bittet Sie, sich bei ${provider} anzumelden.`,
  somebodyAsks: (provider) => `Eine Anwendung bittet Sie, sich bei ${provider} anzumelden.`,
  forCustomer: (customer) => `Das Konto, mit dem Sie sich anmelden, wird für ${customer} verbunden.`,
  forApplication: 'Das Konto, mit dem Sie sich anmelden, wird mit dieser Anwendung verbunden.',
  scopes: 'Angeforderte Berechtigungen:',
  careful: 'Fahren Sie nur fort, wenn Sie dies selbst begonnen haben oder wissen, wer Sie hierher geschickt hat.',
  goOn: (provider) => `Weiter zu ${provider}`,
  needsScript: 'Diese Seite benötigt JavaScript.',
  going: 'Einen Moment …',
  overTitle: 'Dieser Link ist nicht mehr gültig',
  over: 'Anmelde-Links gelten einmal und nur für begrenzte Zeit. Gehen Sie zurück zur Anwendung, und beginnen Sie neu.',
  connectedTitle: 'Sie sind angemeldet',
  connectedAs: (account) => `Verbunden als ${account}.`,
  oneStepLeft: (name) =>
    `Nur noch ein Schritt: Öffnen Sie „${name}“ in der Anwendung, und füllen Sie den Rest aus. Sie müssen sich nicht noch einmal anmelden.`,
  close: 'Sie können dieses Fenster schließen.',
  goBack: 'Schließen Sie dieses Fenster, und beginnen Sie in der Anwendung neu.',
  otherTitle: 'Sie haben ein anderes Konto verwendet',
  other: (account, before) => `Sie haben sich als ${account} angemeldet. Vorher war es ${before}.`,
  unknownOther: 'Sie haben sich mit einem anderen Konto als vorher angemeldet.',
  confirmThere: 'Gehen Sie zurück zur Anwendung, und wählen Sie dort, ob Sie dieses Konto verwenden wollen.',
  confirm: 'Dieses Konto verwenden',
  failedTitle: 'Anmeldung fehlgeschlagen',
  failures: {
    denied: 'Sie haben der Verbindung nicht zugestimmt.',
    expired: 'Die Anmeldung hat zu lange gedauert.',
    refused: 'Der Anbieter hat die Anmeldung abgelehnt.',
    unreachable: 'Der Anbieter antwortet zurzeit nicht.',
    scopes_missing: 'Einige notwendige Berechtigungen fehlen. Stimmen Sie allen zu:',
    other_account: 'Sie haben sich mit einem anderen Konto als vorher angemeldet.',
    not_possible: 'Die Anmeldung ist zurzeit nicht möglich. Wenden Sie sich an den Support der Anwendung.',
  },
  waitingTitle: 'Gleich fertig',
  waiting: 'Warten auf den Anbieter. Diese Seite aktualisiert sich automatisch.',
};

const fr: PageWords = {
  askTitle: (provider) => `Connecter ${provider} ?`,
  asks: (product, provider) => `${product} vous demande de vous connecter à ${provider}.`,
  somebodyAsks: (provider) => `Une application vous demande de vous connecter à ${provider}.`,
  forCustomer: (customer) => `Le compte que vous utiliserez sera relié pour ${customer}.`,
  forApplication: 'Le compte que vous utiliserez sera relié à cette application.',
  scopes: 'Autorisations demandées :',
  careful: 'Continuez seulement si vous avez vous-même commencé, ou si vous savez qui vous a envoyé ici.',
  goOn: (provider) => `Continuer vers ${provider}`,
  needsScript: 'Cette page nécessite JavaScript.',
  going: 'Un instant…',
  overTitle: 'Ce lien n’est plus valable',
  over: 'Une connexion ne sert qu’une fois et pendant quelques minutes. Revenez d’où vous êtes venu et recommencez.',
  connectedTitle: 'Vous êtes connecté',
  connectedAs: (account) => `Connecté en tant que ${account}.`,
  oneStepLeft: (name) =>
    `Il reste une étape : ouvrez « ${name} » dans votre application et complétez le reste. Vous n’aurez pas à vous reconnecter.`,
  close: 'Vous pouvez fermer cette fenêtre.',
  goBack: 'Fermez cette fenêtre et recommencez d’où vous êtes venu.',
  otherTitle: 'C’est un autre compte',
  other: (account, before) => `Vous vous êtes connecté en tant que ${account}. Avant, c’était ${before}.`,
  unknownOther: 'Vous vous êtes connecté avec un autre compte qu’avant.',
  confirmThere: 'Revenez à la fenêtre d’où vous êtes venu et dites si vous voulez l’utiliser.',
  confirm: 'Utiliser ce compte',
  failedTitle: 'Vous n’êtes pas connecté',
  failures: {
    denied: 'Vous n’avez pas donné votre accord au fournisseur.',
    expired: 'Cela a pris trop de temps.',
    refused: 'Le fournisseur n’a pas accepté la connexion.',
    unreachable: 'Le fournisseur ne répond pas en ce moment.',
    scopes_missing: 'Tout ce qui est nécessaire n’a pas été accordé. Acceptez tout ce qui est demandé :',
    other_account: 'C’est un autre compte qu’avant.',
    not_possible: 'La connexion n’est pas possible en ce moment. Adressez-vous à l’application d’où vous venez.',
  },
  waitingTitle: 'Presque terminé',
  waiting: 'Le fournisseur n’a pas encore répondu. Cette page s’actualise automatiquement.',
};

const es: PageWords = {
  askTitle: (provider) => `¿Conectar ${provider}?`,
  asks: (product, provider) => `${product} le pide que inicie sesión en ${provider}.`,
  somebodyAsks: (provider) => `Una aplicación le pide que inicie sesión en ${provider}.`,
  forCustomer: (customer) => `La cuenta con la que inicie sesión se conectará para ${customer}.`,
  forApplication: 'La cuenta con la que inicie sesión se conectará a esta aplicación.',
  scopes: 'Pide:',
  careful: 'Continúe solo si lo ha empezado usted, o si sabe quién le ha enviado aquí.',
  goOn: (provider) => `Continuar a ${provider}`,
  needsScript: 'Esta página necesita JavaScript.',
  going: 'Un momento…',
  overTitle: 'Este enlace ya no es válido',
  over: 'Un inicio de sesión sirve una vez y durante unos minutos. Vuelva al lugar de donde vino y empiece de nuevo.',
  connectedTitle: 'Ha iniciado sesión',
  connectedAs: (account) => `Conectado como ${account}.`,
  oneStepLeft: (name) =>
    `Queda un paso: abra «${name}» en su aplicación y complete el resto. No tendrá que iniciar sesión de nuevo.`,
  close: 'Puede cerrar esta ventana.',
  goBack: 'Cierre esta ventana y empiece de nuevo en el lugar de donde vino.',
  otherTitle: 'Es otra cuenta',
  other: (account, before) => `Ha iniciado sesión como ${account}. Antes era ${before}.`,
  unknownOther: 'Ha iniciado sesión con otra cuenta distinta de la anterior.',
  confirmThere: 'Vuelva a la ventana de donde vino y diga si quiere usarla.',
  confirm: 'Usar esta cuenta',
  failedTitle: 'No ha iniciado sesión',
  failures: {
    denied: 'No ha dado su consentimiento al proveedor.',
    expired: 'Ha tardado demasiado.',
    refused: 'El proveedor no ha aceptado el inicio de sesión.',
    unreachable: 'El proveedor no responde en este momento.',
    scopes_missing: 'No se ha concedido todo lo necesario. Acepte todo lo que se pide:',
    other_account: 'Es otra cuenta distinta de la anterior.',
    not_possible: 'No es posible iniciar sesión en este momento. Consulte la aplicación de donde viene.',
  },
  waitingTitle: 'Casi listo',
  waiting: 'El proveedor aún no ha respondido. Esta página se actualiza automáticamente.',
};

const ja: PageWords = {
  askTitle: (provider) => `${provider} に接続しますか？`,
  asks: (product, provider) => `${product} が ${provider} へのサインインを求めています。`,
  somebodyAsks: (provider) => `アプリケーションが ${provider} へのサインインを求めています。`,
  forCustomer: (customer) => `サインインするアカウントは ${customer} 用に接続されます。`,
  forApplication: 'サインインするアカウントは、このアプリケーションに接続されます。',
  scopes: '求められている権限：',
  careful: 'ご自身で始めた場合、または送信元がわかっている場合にのみ続けてください。',
  goOn: (provider) => `${provider} へ進む`,
  needsScript: 'このページには JavaScript が必要です。',
  going: 'お待ちください…',
  overTitle: 'このアドレスはもう使えません',
  over: 'サインインは一度だけ、数分間のみ有効です。元の画面に戻り、もう一度やり直してください。',
  connectedTitle: 'サインインしました',
  connectedAs: (account) => `${account} として接続しました。`,
  oneStepLeft: (name) =>
    `あと一つ手順が残っています。ご利用のアプリケーションで「${name}」を開き、残りの項目を入力してください。もう一度サインインする必要はありません。`,
  close: 'このウィンドウを閉じてください。',
  goBack: 'このウィンドウを閉じ、元の画面からもう一度やり直してください。',
  otherTitle: '別のアカウントです',
  other: (account, before) => `${account} としてサインインしました。以前は ${before} でした。`,
  unknownOther: '以前とは別のアカウントでサインインしました。',
  confirmThere: '元のウィンドウに戻り、このアカウントを使うかどうかを選んでください。',
  confirm: 'このアカウントを使う',
  failedTitle: 'サインインできませんでした',
  failures: {
    denied: 'プロバイダーで同意されませんでした。',
    expired: '時間がかかりすぎました。',
    refused: 'プロバイダーがサインインを受け付けませんでした。',
    unreachable: '現在、プロバイダーが応答していません。',
    scopes_missing: '必要な権限がすべて許可されていません。求められる権限すべてに同意してください：',
    other_account: '以前とは別のアカウントです。',
    not_possible: '現在サインインできません。元のアプリケーションにお問い合わせください。',
  },
  waitingTitle: 'まもなく完了します',
  waiting: 'プロバイダーからの応答がまだありません。このページは自動的に進みます。',
};

const languages: Record<WidgetLocale, PageWords> = { en, de, fr, es, ja };

/** The words for a browser, by the header `Accept-Language`. */
export function wordsFor(accepted: string | undefined): { language: WidgetLocale; words: PageWords } {
  const wanted = (accepted ?? '')
    .split(',')
    .slice(0, 20)
    .map((part, index) => {
      const [tag = '', ...parameters] = part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/);
      const weight = parameters.find((one) => one.startsWith('q='))?.slice(2);
      return { language: tag.split('-')[0], weight: weight === undefined ? 1 : Number(weight) || 0, index };
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight || one.index - other.index);
  for (const { language } of wanted) {
    const known = widgetLocales.find((one) => one === language);
    if (known) return { language: known, words: languages[known] };
  }
  return { language: 'en', words: en };
}
