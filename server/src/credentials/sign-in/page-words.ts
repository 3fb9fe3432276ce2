/** All texts of the sign-in pages, in the widget's languages. English defines the keys. */

import type { FlowFailure } from '@inlay/contract/credentials/oauth-flows';
import { type WidgetLocale, widgetLocales } from '@inlay/contract/embedding';

const en = {
  askTitle: (provider: string) => `Connect ${provider}?`,
  asks: (product: string, provider: string) => `${product} wants to connect to your ${provider} account.`,
  somebodyAsks: (provider: string) => `An app wants to connect to your ${provider} account.`,
  forCustomer: (customer: string) => `The account you sign in with will be connected for ${customer}.`,
  forApplication: 'The account you sign in with will be connected to this app.',
  scopes: 'Requested permissions:',
  careful: 'Continue only if you started this or trust the person who sent you the link.',
  continueTo: (provider: string) => `Continue to ${provider}`,
  needsScript: 'This page needs JavaScript.',
  going: 'One moment…',
  overTitle: 'This link is no longer valid',
  over: 'Sign-in links work once and expire. Go back to the app and start again.',
  connectedTitle: 'You’re signed in',
  connectedAs: (account: string) => `Connected as ${account}.`,
  oneStepLeft: (name: string) =>
    `One step left: open “${name}” in the app and fill in the rest. You don’t need to sign in again.`,
  close: 'You can close this window.',
  goBack: 'Close this window and start again in the app.',
  otherTitle: 'You used a different account',
  other: (account: string, before: string) => `You signed in as ${account} instead of ${before}.`,
  unknownOther: 'You signed in with a different account than before.',
  confirmThere: 'Go back to the app and choose whether to use this account.',
  confirm: 'Use this account',
  failedTitle: 'Sign-in failed',
  failures: {
    denied: 'You didn’t grant access to your account.',
    expired: 'Signing in took too long.',
    refused: 'The provider rejected the sign-in.',
    unreachable: 'The provider isn’t responding.',
    scopes_missing: 'Some required permissions were not granted. Allow all of these:',
    other_account: 'You signed in with a different account than before.',
    not_possible: 'Sign-in isn’t available right now. Contact the app’s support.',
  } satisfies Record<FlowFailure, string> as Record<FlowFailure, string>,
  waitingTitle: 'Almost there',
  waiting: 'Waiting for the provider. This page updates automatically.',
};
export type PageWords = typeof en;

const de: PageWords = {
  askTitle: (provider) => `${provider} verbinden?`,
  asks: (product, provider) => `${product} möchte sich mit Ihrem Konto bei ${provider} verbinden.`,
  somebodyAsks: (provider) => `Eine Anwendung möchte sich mit Ihrem Konto bei ${provider} verbinden.`,
  forCustomer: (customer) => `Das Konto, mit dem Sie sich anmelden, wird für ${customer} verbunden.`,
  forApplication: 'Das Konto, mit dem Sie sich anmelden, wird mit dieser Anwendung verbunden.',
  scopes: 'Angeforderte Berechtigungen:',
  careful: 'Fahren Sie nur fort, wenn Sie dies selbst gestartet haben oder dem Absender des Links vertrauen.',
  continueTo: (provider) => `Weiter zu ${provider}`,
  needsScript: 'Diese Seite benötigt JavaScript.',
  going: 'Einen Moment …',
  overTitle: 'Dieser Link ist nicht mehr gültig',
  over: 'Anmeldelinks funktionieren einmal und laufen ab. Gehen Sie zurück zur Anwendung und beginnen Sie neu.',
  connectedTitle: 'Sie sind angemeldet',
  connectedAs: (account) => `Verbunden als ${account}.`,
  oneStepLeft: (name) =>
    `Noch ein Schritt: Öffnen Sie „${name}“ in der Anwendung und füllen Sie den Rest aus. Sie müssen sich nicht erneut anmelden.`,
  close: 'Sie können dieses Fenster schließen.',
  goBack: 'Schließen Sie dieses Fenster und beginnen Sie in der Anwendung neu.',
  otherTitle: 'Sie haben ein anderes Konto verwendet',
  other: (account, before) => `Sie haben sich als ${account} statt als ${before} angemeldet.`,
  unknownOther: 'Sie haben sich mit einem anderen Konto als bisher angemeldet.',
  confirmThere: 'Gehen Sie zurück zur Anwendung und wählen Sie, ob Sie dieses Konto verwenden möchten.',
  confirm: 'Dieses Konto verwenden',
  failedTitle: 'Anmeldung fehlgeschlagen',
  failures: {
    denied: 'Sie haben den Zugriff auf Ihr Konto nicht erlaubt.',
    expired: 'Die Anmeldung hat zu lange gedauert.',
    refused: 'Der Anbieter hat die Anmeldung abgelehnt.',
    unreachable: 'Der Anbieter antwortet nicht.',
    scopes_missing: 'Einige erforderliche Berechtigungen wurden nicht erteilt. Erlauben Sie alle:',
    other_account: 'Sie haben sich mit einem anderen Konto als bisher angemeldet.',
    not_possible: 'Die Anmeldung ist gerade nicht möglich. Wenden Sie sich an den Support der Anwendung.',
  },
  waitingTitle: 'Fast geschafft',
  waiting: 'Der Anbieter hat noch nicht geantwortet. Diese Seite aktualisiert sich automatisch.',
};

const fr: PageWords = {
  askTitle: (provider) => `Connecter ${provider} ?`,
  asks: (product, provider) => `${product} souhaite se connecter à votre compte ${provider}.`,
  somebodyAsks: (provider) => `Une application souhaite se connecter à votre compte ${provider}.`,
  forCustomer: (customer) => `Le compte avec lequel vous vous connectez sera associé à ${customer}.`,
  forApplication: 'Le compte avec lequel vous vous connectez sera associé à cette application.',
  scopes: 'Autorisations demandées :',
  careful:
    'Continuez uniquement si vous êtes à l’origine de cette demande ou si vous faites confiance à l’expéditeur du lien.',
  continueTo: (provider) => `Continuer vers ${provider}`,
  needsScript: 'Cette page nécessite JavaScript.',
  going: 'Un instant…',
  overTitle: 'Ce lien n’est plus valide',
  over: 'Les liens de connexion expirent et ne fonctionnent qu’une fois. Retournez dans l’application et recommencez.',
  connectedTitle: 'Vous êtes connecté',
  connectedAs: (account) => `Connecté en tant que ${account}.`,
  oneStepLeft: (name) =>
    `Plus qu’une étape : ouvrez « ${name} » dans l’application et complétez le reste. Inutile de vous reconnecter.`,
  close: 'Vous pouvez fermer cette fenêtre.',
  goBack: 'Fermez cette fenêtre et recommencez dans l’application.',
  otherTitle: 'Vous avez utilisé un autre compte',
  other: (account, before) => `Vous vous êtes connecté en tant que ${account} au lieu de ${before}.`,
  unknownOther: 'Vous vous êtes connecté avec un autre compte qu’auparavant.',
  confirmThere: 'Retournez dans l’application et choisissez si vous souhaitez utiliser ce compte.',
  confirm: 'Utiliser ce compte',
  failedTitle: 'Échec de la connexion',
  failures: {
    denied: 'Vous n’avez pas autorisé l’accès à votre compte.',
    expired: 'La connexion a pris trop de temps.',
    refused: 'Le fournisseur a refusé la connexion.',
    unreachable: 'Le fournisseur ne répond pas.',
    scopes_missing: 'Certaines autorisations requises n’ont pas été accordées. Acceptez-les toutes :',
    other_account: 'Vous vous êtes connecté avec un autre compte qu’auparavant.',
    not_possible: 'La connexion est indisponible pour le moment. Contactez l’assistance de l’application.',
  },
  waitingTitle: 'Presque terminé',
  waiting: 'En attente du fournisseur. Cette page s’actualise automatiquement.',
};

const es: PageWords = {
  askTitle: (provider) => `¿Conectar ${provider}?`,
  asks: (product, provider) => `${product} quiere conectarse a su cuenta de ${provider}.`,
  somebodyAsks: (provider) => `Una aplicación quiere conectarse a su cuenta de ${provider}.`,
  forCustomer: (customer) => `La cuenta con la que inicie sesión se conectará para ${customer}.`,
  forApplication: 'La cuenta con la que inicie sesión se conectará a esta aplicación.',
  scopes: 'Permisos solicitados:',
  careful: 'Continúe solo si ha iniciado este proceso o confía en quien le ha enviado el enlace.',
  continueTo: (provider) => `Continuar a ${provider}`,
  needsScript: 'Esta página necesita JavaScript.',
  going: 'Un momento…',
  overTitle: 'Este enlace ya no es válido',
  over: 'Los enlaces de inicio de sesión caducan y solo se pueden usar una vez. Vuelva a la aplicación y empiece de nuevo.',
  connectedTitle: 'Ha iniciado sesión',
  connectedAs: (account) => `Conectado como ${account}.`,
  oneStepLeft: (name) =>
    `Falta un paso: abra «${name}» en la aplicación y complete el resto. No tendrá que volver a iniciar sesión.`,
  close: 'Puede cerrar esta ventana.',
  goBack: 'Cierre esta ventana y empiece de nuevo en la aplicación.',
  otherTitle: 'Ha usado otra cuenta',
  other: (account, before) => `Ha iniciado sesión como ${account} en lugar de ${before}.`,
  unknownOther: 'Ha iniciado sesión con una cuenta distinta de la anterior.',
  confirmThere: 'Vuelva a la aplicación y elija si quiere usar esta cuenta.',
  confirm: 'Usar esta cuenta',
  failedTitle: 'Error al iniciar sesión',
  failures: {
    denied: 'No ha concedido acceso a su cuenta.',
    expired: 'El inicio de sesión ha tardado demasiado.',
    refused: 'El proveedor ha rechazado el inicio de sesión.',
    unreachable: 'El proveedor no responde.',
    scopes_missing: 'No se han concedido algunos permisos necesarios. Acéptelos todos:',
    other_account: 'Ha iniciado sesión con una cuenta distinta de la anterior.',
    not_possible: 'No es posible iniciar sesión en este momento. Póngase en contacto con el soporte de la aplicación.',
  },
  waitingTitle: 'Casi listo',
  waiting: 'Esperando al proveedor. Esta página se actualiza automáticamente.',
};

const ja: PageWords = {
  askTitle: (provider) => `${provider} を接続しますか？`,
  asks: (product, provider) => `${product} が ${provider} アカウントへの接続を求めています。`,
  somebodyAsks: (provider) => `アプリが ${provider} アカウントへの接続を求めています。`,
  forCustomer: (customer) => `サインインするアカウントは ${customer} 用に接続されます。`,
  forApplication: 'サインインするアカウントは、このアプリに接続されます。',
  scopes: 'リクエストされた権限：',
  careful: 'ご自身で開始した場合、またはリンクの送信者を信頼できる場合にのみ続行してください。',
  continueTo: (provider) => `${provider} に進む`,
  needsScript: 'このページには JavaScript が必要です。',
  going: 'お待ちください…',
  overTitle: 'このリンクは無効になりました',
  over: 'サインイン用リンクは 1 回のみ有効で、期限があります。アプリに戻って、もう一度やり直してください。',
  connectedTitle: 'サインインしました',
  connectedAs: (account) => `${account} として接続しました。`,
  oneStepLeft: (name) =>
    `残りのステップは 1 つです。アプリで「${name}」を開き、残りの項目を入力してください。再度サインインする必要はありません。`,
  close: 'このウィンドウを閉じることができます。',
  goBack: 'このウィンドウを閉じ、アプリからもう一度やり直してください。',
  otherTitle: '別のアカウントが使用されました',
  other: (account, before) => `${before} ではなく ${account} でサインインしました。`,
  unknownOther: '以前とは別のアカウントでサインインしました。',
  confirmThere: 'アプリに戻り、このアカウントを使用するかどうかを選択してください。',
  confirm: 'このアカウントを使用',
  failedTitle: 'サインインできませんでした',
  failures: {
    denied: 'アカウントへのアクセスが許可されませんでした。',
    expired: 'サインインに時間がかかりすぎました。',
    refused: 'プロバイダーがサインインを拒否しました。',
    unreachable: 'プロバイダーが応答していません。',
    scopes_missing: '必要な権限の一部が許可されませんでした。次のすべてを許可してください：',
    other_account: '以前とは別のアカウントでサインインしました。',
    not_possible: '現在サインインできません。アプリのサポートにお問い合わせください。',
  },
  waitingTitle: 'まもなく完了します',
  waiting: 'プロバイダーの応答を待っています。このページは自動的に更新されます。',
};

const languages: Record<WidgetLocale, PageWords> = { en, de, fr, es, ja };

/** Picks the language by the `Accept-Language` header. */
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
