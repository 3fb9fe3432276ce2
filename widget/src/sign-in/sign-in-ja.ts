import type { SignInWords } from './sign-in-en.ts';

const ja: SignInWords = {
  signIn: (provider) => `${provider} でサインイン`,
  again: 'もう一度サインイン',
  lead: (provider) => `${provider} でサインインします。パスワードが当サービスに渡ることはありません。`,
  enterKeys: '代わりに認証情報を入力',
  signInInstead: '代わりにサインイン',
  missing: '先にサインインしてください。',
  waiting: (provider) => `${provider} のウィンドウで続行してください`,
  waitingText: 'サインインが完了すると、このページは自動的に進みます。',
  finishing: 'サインインを完了しています…',
  noWindow: '新しいウィンドウが開かない場合は、こちらから開いてください：',
  openWindow: 'サインインを開く',
  useThisWindow: 'このウィンドウで続行',
  windowClosed: 'サインインのウィンドウが閉じられたようです。',
  windowUnknown: 'ウィンドウを閉じた場合は、再度開くことができます。',
  reopenWindow: 'ウィンドウを再度開く',
  showWindow: 'ウィンドウを表示',
  cancelled: 'サインインをキャンセルしました',
  connectedAs: (account) => `${account} として接続済み`,
  connected: (provider) => `${provider} に接続済み`,
  otherAccount: '別のアカウントを使用',
  failed: 'サインインできませんでした',
  failures: {
    denied: 'アクセスが許可されなかったため、接続されていません。',
    expired: 'サインインに時間がかかりすぎました。もう一度お試しください。',
    refused: 'プロバイダーがサインインを拒否しました。もう一度お試しください。',
    unreachable: 'プロバイダーが応答していません。後でもう一度お試しください。',
    not_possible: '現在サインインできません。サポートにお問い合わせください。',
  },
  values: {
    'GitLab host': 'GitLab ホスト',
    'Sign-in host': 'サインイン用ホスト',
    'Intercom address': 'Intercom アドレス',
    'Shop name': 'ショップ名',
    'Zendesk subdomain': 'Zendesk サブドメイン',
  },
  onlyTheName: '「acme」のように、名前のみを英数字とハイフンで入力してください。',
  oneOfHosts: (hosts) => `次のいずれかを選択してください: ${hosts}`,
  missingScopes: '権限が不足しています',
  missingScopesText: 'データを読み取るには次の権限が必要です。もう一度サインインして、すべて許可してください：',
  grantAgain: '権限を許可',
  unconfirmed: '別のアカウントが使用されました',
  unconfirmedText: (account, before) =>
    `${account} でサインインしましたが、このデータソースは ${before} として接続されています。続行すると、今後は ${account} のデータが同期されます。`,
  unconfirmedUnknown:
    '以前とは別のアカウントでサインインしました。続行すると、今後は新しいアカウントのデータが同期されます。',
  confirm: 'このアカウントを使用',
  endedTitle: '続行するには、もう一度サインインしてください',
  endedText: (provider) =>
    `${provider} でのサインインが無効になったため、同期が停止しました。設定と履歴は保持されます。`,
  restored: '再度サインインしました。同期は自動的に再開されます。',
};

export default ja;
