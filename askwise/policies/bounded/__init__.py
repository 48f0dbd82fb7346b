"""Budget, prices and limits: the policies of paper 003 and two beyond it."""
