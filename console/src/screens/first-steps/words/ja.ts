import type { FirstStepsWords } from './en.ts';

const ja: FirstStepsWords = {
  title: '最初の手順',
  lead: '何もない状態から、顧客の最初の行が届くまで、このブラウザーだけで進めます。',
  hide: '隠す',
  show: '最初の手順を表示',
  done: '完了',
  steps: {
    destination: {
      title: 'データの送り先を決める',
      text: '送り先を選び、接続テンプレートを作ります。すべての顧客のソースがこれに接続されます。',
    },
    source: {
      title: 'ソースを提供する',
      text: 'コネクターを選び、ソーステンプレートを作ります。これが顧客にウィジェットで表示されます。「Sample data」はアカウント不要です。',
    },
    customer: {
      title: '顧客を追加する',
      text: '実運用ではバックエンドがウィジェットトークンを求めるときに作られます。試すだけなら名前は何でもかまいません。',
    },
    connect: {
      title: 'この顧客としてソースを接続する',
      text: '顧客に見えるとおりのウィジェットを別のタブで開き、そこでソースを接続します。',
    },
    rows: {
      title: '最初の行が届くのを確認する',
      text: '最初の同期は自動で始まります。行が届くとこの一覧は消えます。',
    },
  },
  chooseDestination: '送り先を選ぶ',
  chooseSource: 'コネクターを選ぶ',
  seeJobs: 'ジョブを見る',
  addCustomer: '顧客を追加',
  addText: '顧客は組織のワークスペースです。バックエンドも同じ名前で呼びます。',
  customerName: '名前',
  nameHint: 'バックエンドで使う名前。例: acme-inc',
  added: (name) => `${name} を追加しました`,
  openWidget: 'ウィジェットを開く',
  openText: (name) =>
    `${name} として実際のウィジェットへのリンクを作ります。リンクを持つ人は 1 時間、この顧客のソースを接続・削除できます。`,
  makeLink: 'リンクを作る',
  linkText: 'リンクは実際のウィジェットを新しいタブで開きます。有効期間は 1 時間です。他の人に渡さないでください。',
  openAs: (name) => `${name} としてウィジェットを開く`,
  copyLink: 'リンクをコピー',
  toCustomer: '顧客の画面へ',
};

export default ja;
