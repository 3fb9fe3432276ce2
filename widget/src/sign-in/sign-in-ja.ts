import type { SignInWords } from './sign-in-en.ts';

const ja: SignInWords = {
  signIn: (provider) => `${provider} でサインイン`,
  again: 'もう一度サインイン',
  lead: (provider) => `${provider} のページでサインインします。パスワードがこちらに渡ることはありません。`,
  enterKeys: '代わりにキーを入力する',
  signInInstead: '代わりにサインインする',
  missing: '先にサインインしてください。',
  waiting: (provider) => `${provider} のウィンドウで続けてください`,
  waitingText: 'サインインが終わると、このページは自動的に先へ進みます。',
  finishing: 'サインインを完了しています…',
  noWindow: '新しいウィンドウが開かない場合は、こちらから開いてください：',
  openWindow: 'サインインを開く',
  useThisWindow: 'このウィンドウで続ける',
  windowClosed: 'サインインのウィンドウが閉じられたようです。',
  windowUnknown: 'ウィンドウを閉じた場合は、もう一度開くことができます。',
  reopenWindow: 'ウィンドウをもう一度開く',
  showWindow: 'ウィンドウを表示',
  cancelled: 'サインインを中止しました',
  connectedAs: (account) => `${account} として接続済み`,
  connected: (provider) => `${provider} に接続済み`,
  otherAccount: '別のアカウントを使う',
  failed: 'サインインできませんでした',
  failures: {
    denied: '同意されなかったため、何も接続されていません。',
    expired: 'サインインに時間がかかりすぎました。もう一度やり直してください。',
    refused: 'プロバイダーがサインインを受け付けませんでした。もう一度お試しください。',
    unreachable: 'プロバイダーが現在応答していません。後でもう一度お試しください。',
    not_possible: '現在サインインできません。この製品のサポートにお問い合わせください。',
  },
  values: {
    'GitLab host': 'GitLab のホスト',
    'Sign-in host': 'サインイン先のホスト',
    'Intercom address': 'Intercom のアドレス',
    'Name of the shop': 'ショップの名前',
    'Subdomain of Zendesk': 'Zendesk のサブドメイン',
  },
  onlyTheName: '「acme」のように名前だけを、英数字とハイフンで入力してください。',
  oneOfHosts: (hosts) => `次のいずれかを選択してください: ${hosts}`,
  missingScopes: '不足している権限があります',
  missingScopesText: 'これらがないとデータを読み取れません。もう一度サインインして、すべてに同意してください：',
  grantAgain: 'もう一度許可する',
  unconfirmed: '別のアカウントです',
  unconfirmedText: (account, before) =>
    `${account} としてサインインしました。これまでこのソースは ${before} として接続されていました。続けると、今後は ${account} のデータが取り込まれます。`,
  unconfirmedUnknown:
    'これまでとは別のアカウントでサインインしました。続けると、今後はこのアカウントのデータが取り込まれます。',
  confirm: 'このアカウントを使う',
  endedTitle: 'もう一度サインインしてください',
  endedText: (provider) =>
    `${provider} が以前のサインインを受け付けなくなりました。もう一度サインインするまで同期は行われません。設定と履歴はそのまま残ります。`,
  restored: 'もう一度サインインしました。同期は自動的に再開します。',
};

export default ja;
